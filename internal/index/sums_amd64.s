//go:build simd

#include "textflag.h"

// func takeSumsAVX2(numbers *uint16, taken, sums *float64, groups int, least float64) int
//
// There is at least one group of 8 sums. All sums become zero.
TEXT ·takeSumsAVX2(SB), NOSPLIT, $0-48
	MOVQ         numbers+0(FP), DI
	MOVQ         taken+8(FP), R8
	MOVQ         sums+16(FP), SI
	MOVQ         groups+24(FP), R9
	VBROADCASTSD least+32(FP), Y4
	VXORPD       Y5, Y5, Y5
	XORQ         DX, DX
	XORQ         BX, BX

group:
	VMOVUPD   (SI), Y0
	VMOVUPD   32(SI), Y1
	VCMPPD    $13, Y4, Y0, Y0
	VCMPPD    $13, Y4, Y1, Y1
	VMOVMSKPD Y0, AX
	VMOVMSKPD Y1, CX
	SHLL      $4, CX
	ORL       CX, AX
	JEQ       none

take:
	TZCNTL AX, CX
	MOVQ   (SI)(CX*8), R10
	ADDL   BX, CX
	MOVW   CX, (DI)(DX*2)
	MOVQ   R10, (R8)(DX*8)
	INCQ   DX
	BLSRL  AX, AX
	JNE    take

none:
	VMOVUPD Y5, (SI)
	VMOVUPD Y5, 32(SI)
	ADDQ    $64, SI
	ADDQ    $8, BX
	DECQ    R9
	JNE     group

	MOVQ DX, ret+40(FP)
	VZEROUPPER
	RET

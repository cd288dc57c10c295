//go:build simd

#include "textflag.h"

DATA one<>+0(SB)/4, $0x3f800000
GLOBL one<>(SB), RODATA|NOPTR, $4

// func addRowAVX2(sums *float64, inverse *float32, groups int, weight, tf, barely float32)
//
// For each of 8·groups settings: sum += max(weight − weight/(1 + tf·inverse), barely),
// computed with 32 bits and added with 64.
TEXT ·addRowAVX2(SB), NOSPLIT, $0-36
	MOVQ         sums+0(FP), DI
	MOVQ         inverse+8(FP), SI
	MOVQ         groups+16(FP), CX
	VBROADCASTSS weight+24(FP), Y15
	VBROADCASTSS tf+28(FP), Y14
	VBROADCASTSS barely+32(FP), Y13
	VBROADCASTSS one<>(SB), Y12

add:
	VMULPS       (SI), Y14, Y0
	VADDPS       Y12, Y0, Y0
	VDIVPS       Y0, Y15, Y0
	VSUBPS       Y0, Y15, Y0
	VMAXPS       Y13, Y0, Y0
	VEXTRACTF128 $1, Y0, X2
	VCVTPS2PD    X0, Y1
	VCVTPS2PD    X2, Y2
	VADDPD       (DI), Y1, Y1
	VADDPD       32(DI), Y2, Y2
	VMOVUPD      Y1, (DI)
	VMOVUPD      Y2, 32(DI)
	ADDQ         $32, SI
	ADDQ         $64, DI
	DECQ         CX
	JNZ          add
	VZEROUPPER
	RET

// func takeRowsAVX2(numbers *uint16, sums, least *float64, rows, groups int) int
//
// Each row has 8·groups sums, at least one of both. Rows that are not reported become zero.
TEXT ·takeRowsAVX2(SB), NOSPLIT, $0-48
	MOVQ numbers+0(FP), DI
	MOVQ sums+8(FP), SI
	MOVQ least+16(FP), DX
	MOVQ rows+24(FP), R8
	MOVQ groups+32(FP), R9
	MOVQ DI, R10
	XORQ BX, BX

row:
	VXORPD Y3, Y3, Y3
	MOVQ   SI, R13
	MOVQ   DX, R11
	MOVQ   R9, CX

group:
	VMOVUPD (SI), Y0
	VMOVUPD 32(SI), Y1
	VCMPPD  $13, (R11), Y0, Y0
	VCMPPD  $13, 32(R11), Y1, Y1
	VORPD   Y0, Y3, Y3
	VORPD   Y1, Y3, Y3
	ADDQ    $64, SI
	ADDQ    $64, R11
	DECQ    CX
	JNZ     group

	VMOVMSKPD Y3, AX
	TESTL     AX, AX
	JNE       reached
	VXORPD    Y0, Y0, Y0

zero:
	VMOVUPD Y0, (R13)
	VMOVUPD Y0, 32(R13)
	ADDQ    $64, R13
	CMPQ    R13, SI
	JNE     zero
	JMP     next

reached:
	MOVW BX, (DI)
	ADDQ $2, DI

next:
	INCQ BX
	CMPQ      BX, R8
	JNE       row

	SUBQ R10, DI
	SHRQ $1, DI
	MOVQ DI, ret+40(FP)
	VZEROUPPER
	RET

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

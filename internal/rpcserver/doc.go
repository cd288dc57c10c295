// Package rpcserver speaks the protocol of the original Pi-Serini's BM25 server, line for
// line, over an index of ours: one JSON object a line, over the standard streams or TCP.
// The original's clients cannot tell the difference, but for two faults that are left out:
// a connection that says nothing keeps nobody waiting, and a document that cannot be read
// spoils no answer about others.
package rpcserver

// Package httpserver offers a collection over HTTP: the http-json contract of the original
// Pi-Serini, the endpoint of Search-R1, questions answered with server-sent events, MCP,
// and what an operator needs: health, readiness, metrics. docs/servers.md is its manual.
//
// Every request passes, in this order, the check of its Host and Origin, of its token, the
// bound of its body, and waits for its turn; nothing is done before all of them.
package httpserver

package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// checkMessages answers what is no JSON-RPC message with the error that JSON-RPC has for
// it, and refuses ids that would come back altered.
func checkMessages(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		var tooLong *http.MaxBytesError
		switch {
		case errors.As(err, &tooLong):
			refuse(w, http.StatusRequestEntityTooLarge, nil, jsonrpc.CodeInvalidRequest, "the message is longer than "+strconv.FormatInt(tooLong.Limit, 10)+" bytes")
			return
		case err != nil:
			refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeParseError, "the message did not arrive")
			return
		}
		body = bytes.ToValidUTF8(bytes.TrimSpace(body), replacement)
		if !json.Valid(body) {
			refuse(w, http.StatusBadRequest, nil, jsonrpc.CodeParseError, "the message is not JSON")
			return
		}
		if body[0] != '[' {
			e, complaint := parseEnvelope(body)
			if complaint == "" && !exact(e.ID) {
				complaint = "id is a number that JSON does not keep exactly: use a whole one below 2^53, or a string"
			}
			if complaint != "" {
				refuse(w, http.StatusBadRequest, e.ID, jsonrpc.CodeInvalidRequest, complaint)
				return
			}
			if e.lacksParams() {
				refuse(w, http.StatusBadRequest, e.ID, jsonrpc.CodeInvalidParams, *e.Method+" needs params")
				return
			}
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// exact reports whether an id comes back as it is: a number passes through a float64.
func exact(id json.RawMessage) bool {
	if id == nil || id[0] == '"' {
		return true
	}
	f, err := strconv.ParseFloat(string(id), 64)
	return err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 && strconv.FormatInt(int64(f), 10) == string(id)
}

func refuse(w http.ResponseWriter, status int, id json.RawMessage, code int64, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(failure(id, code, message))
}

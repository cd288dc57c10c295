package httpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"goserini/internal/retrieval"
)

// errorBody is every answer that is no success.
type errorBody struct {
	Error string `json:"error"`
}

func fail(w http.ResponseWriter, status int, format string, args ...any) {
	writeJSON(w, status, errorBody{fmt.Sprintf(format, args...)})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":"the answer could not be encoded"}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a client that has left needs no answer
}

// badRequest is a mistake of the client.
type badRequest struct {
	status  int
	message string
}

func (b *badRequest) Error() string { return b.message }

func bad(format string, args ...any) error {
	return &badRequest{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// decode reads a body that is one JSON object into a struct. A field that the struct does not
// have, in these letters, is refused. A browser cannot send application/json to another
// origin without asking first.
func decode(r *http.Request, into any) error {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return &badRequest{http.StatusUnsupportedMediaType, "the body must be JSON: send Content-Type: application/json"}
	}
	body, err := io.ReadAll(r.Body)
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return &badRequest{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is longer than %d bytes", tooLong.Limit)}
	case err != nil:
		return bad("the body did not arrive")
	}
	var given map[string]json.RawMessage
	var syntax *json.SyntaxError
	switch err := json.Unmarshal(body, &given); {
	case errors.As(err, &syntax):
		return bad("the body is not JSON: %v, at byte %d", err, syntax.Offset)
	case err != nil || given == nil:
		return bad("the body must be one JSON object")
	}
	return fill(reflect.ValueOf(into).Elem(), given)
}

// fill sets the fields of a struct, each of which has the tag of its name alone.
func fill(into reflect.Value, given map[string]json.RawMessage) error {
	var names []string
	for i := range into.NumField() {
		name := into.Type().Field(i).Tag.Get("json")
		names = append(names, name)
		raw, ok := given[name]
		if ok && json.Unmarshal(raw, into.Field(i).Addr().Interface()) != nil {
			return bad("%s must be %s", name, wanted(into.Field(i).Type()))
		}
		delete(given, name)
	}
	if len(given) > 0 {
		other := slices.Min(slices.Collect(maps.Keys(given)))
		return bad("there is no field %q here; there are %s", clip(other), strings.Join(names, ", "))
	}
	return nil
}

// wanted says what a field holds.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.Slice:
		return "a list of strings"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	}
	return "a finite number"
}

// failWith answers with what went wrong: the client's mistakes in full, everything else for
// the operator alone.
func (s *Server) failWith(w http.ResponseWriter, r *http.Request, err error) {
	var b *badRequest
	switch {
	case errors.As(err, &b):
		fail(w, b.status, "%s", b.message)
	case r.Context().Err() != nil && errors.Is(err, context.Canceled):
		// The client has left.
	case errors.Is(err, context.DeadlineExceeded):
		s.config.Log("%s: %v", r.URL.Path, err)
		fail(w, http.StatusGatewayTimeout, "there was no result within %v", s.config.Limits.Timeout)
	case errors.Is(err, retrieval.ErrUnavailable):
		s.config.Log("%s: %v", r.URL.Path, err)
		w.Header().Set("Retry-After", "1")
		fail(w, http.StatusServiceUnavailable, "the document collection did not answer: try again in a moment")
	default:
		s.config.Log("%s: %v", r.URL.Path, err)
		fail(w, http.StatusInternalServerError, "the collection could not be read; the server's log has the cause")
	}
}

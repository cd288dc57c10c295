package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxMessage bounds one message of a client, in bytes. No call needs a hundredth of it.
const maxMessage = 4 << 20

// batchedUntil is the last revision that has batches; batches of later sessions are refused.
const batchedUntil = "2025-03-26"

// lineTransport carries messages as lines. Unlike the SDK's own it outlives lines that are
// no message: each is answered with the error that the protocol has for it. And it gives
// ids back exactly as they came, also numbers that no float64 holds.
type lineTransport struct {
	conn *lineConn
}

func newLineTransport(in io.Reader, out io.Writer, config Config) *lineTransport {
	c := &lineConn{
		in: bufio.NewReaderSize(in, 64<<10), out: out, log: config.Log, drain: config.Drain,
		messages: make(chan jsonrpc.Message), closed: make(chan struct{}), eof: make(chan struct{}), idle: make(chan struct{}),
		ids: map[int64]*pending{}, inFlight: map[string]int64{},
	}
	return &lineTransport{c}
}

func (t *lineTransport) Connect(context.Context) (mcp.Connection, error) {
	go t.conn.receive()
	return t.conn, nil
}

// pending is a request that has no response yet.
type pending struct {
	id    json.RawMessage
	batch *batch
	// initialized is closed when an initialize has its response; nil for other requests.
	initialized chan struct{}
}

// batch collects the responses to the requests of one line.
type batch struct {
	missing   int
	responses []json.RawMessage
}

type lineConn struct {
	in  *bufio.Reader
	out io.Writer
	log func(string, ...any)
	// drain bounds the wait for answers after the input has ended.
	drain time.Duration

	messages  chan jsonrpc.Message
	idle      chan struct{} // closed when the input has ended and everything is answered
	eof       chan struct{} // closed then, or when that takes too long
	closed    chan struct{}
	closeOnce sync.Once

	mu sync.Mutex // guards what follows, and writing
	// ids are by our own numbers, under which the SDK knows requests; inFlight has those
	// numbers by the client's id.
	ids      map[int64]*pending
	inFlight map[string]int64
	last     int64
	ended    bool // the input has
	revision string
	writeErr error
}

func (c *lineConn) SessionID() string { return "" }

func (c *lineConn) Close() error {
	c.closeOnce.Do(func() { close(c.closed) })
	return nil
}

func (c *lineConn) sawEOF() bool {
	select {
	case <-c.eof:
		return true
	default:
		return false
	}
}

// drained is closed d after the input has ended.
func (c *lineConn) drained(d time.Duration) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		<-c.eof
		select {
		case <-time.After(d):
			close(done)
		case <-c.closed:
		}
	}()
	return done
}

// Read returns the next message; io.EOF when there will be no more.
func (c *lineConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-c.messages:
		return m, nil
	case <-c.eof:
		return nil, io.EOF
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// receive turns lines into messages until the input ends, and tells the SDK of the end once
// everything is answered: it cancels what it has not answered by then. Reading of the
// standard input cannot be broken off, so it may outlive the connection.
func (c *lineConn) receive() {
	defer close(c.eof)
	c.readLines()
	c.mu.Lock()
	c.ended = true
	c.checkIdle()
	c.mu.Unlock()
	select {
	case <-c.idle:
	case <-time.After(c.drain):
		c.mu.Lock()
		c.log("the input ended, and %d calls were not answered within %v of that", len(c.ids), c.drain)
		c.mu.Unlock()
	case <-c.closed:
	}
}

// checkIdle closes idle when the time has come.
func (c *lineConn) checkIdle() {
	if c.ended && len(c.ids) == 0 {
		close(c.idle)
	}
}

func (c *lineConn) readLines() {
	for {
		line, tooLong, err := c.readLine()
		switch line = bytes.TrimSpace(line); {
		case tooLong:
			c.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is longer than "+strconv.Itoa(maxMessage)+" bytes")
		case len(line) > 0 && !c.take(line):
			return
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.log("read: %v", err)
			}
			return
		}
	}
}

func (c *lineConn) readLine() (line []byte, tooLong bool, err error) {
	for {
		part, err := c.in.ReadSlice('\n')
		if line = append(line, part...); len(line) > maxMessage {
			line, tooLong = nil, true
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}

// take handles one line; false means that the connection is closed.
func (c *lineConn) take(line []byte) bool {
	line = bytes.ToValidUTF8(line, replacement)
	if !json.Valid(line) {
		c.refuse(nil, jsonrpc.CodeParseError, "the line is not JSON")
		return true
	}
	if line[0] != '[' {
		return c.takeOne(line, nil)
	}
	var elements []json.RawMessage
	if err := json.Unmarshal(line, &elements); err != nil || len(elements) == 0 {
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "a batch must hold a message")
		return true
	}
	if c.mu.Lock(); c.revision > batchedUntil {
		c.mu.Unlock()
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "this revision of the protocol has no batches: send each message on a line of its own")
		return true
	}
	c.mu.Unlock()
	b := &batch{missing: len(elements)}
	for _, e := range elements {
		if !c.takeOne(e, b) {
			return false
		}
	}
	return true
}

// replacement stands for bytes that are no UTF-8: ids go back as they came, and must not take
// them along.
var replacement = []byte("\uFFFD")

// takeOne handles one message.
func (c *lineConn) takeOne(raw json.RawMessage, b *batch) bool {
	e, complaint := parseEnvelope(raw)
	if complaint != "" {
		c.respondLocked(failure(e.ID, jsonrpc.CodeInvalidRequest, complaint), b)
		return true
	}
	if e.lacksParams() {
		c.respondLocked(failure(e.ID, jsonrpc.CodeInvalidParams, *e.Method+" needs params"), b)
		return true
	}
	m := &jsonrpc.Request{Method: *e.Method, Params: e.Params}
	p := &pending{id: e.ID, batch: b}
	if e.ID != nil {
		if m.Method == "initialize" {
			p.initialized = make(chan struct{})
		}
		m.ID, _ = jsonrpc.MakeID(float64(c.register(p)))
	} else {
		c.batchDone(b)
		if m.Method == "notifications/cancelled" && !c.translate(m) {
			return true // it names no request that is on its way
		}
	}
	select {
	case c.messages <- m:
	case <-c.closed:
		return false
	}
	if p.initialized != nil {
		// The next lines are read by the rules of the revision that is agreed on now.
		select {
		case <-p.initialized:
		case <-c.closed:
			return false
		}
	}
	return true
}

// envelope is a JSON-RPC message.
type envelope struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
	Params  json.RawMessage `json:"params"`
}

// lacksParams reports whether a request has no params where it needs some.
func (e envelope) lacksParams() bool {
	needs := *e.Method == "tools/call" || *e.Method == "resources/read"
	return e.ID != nil && needs && (len(e.Params) == 0 || string(e.Params) == "null")
}

// parseEnvelope reads a request or notification and tells what is wrong with it. A server
// sends no requests, so nothing else can arrive.
func parseEnvelope(raw json.RawMessage) (envelope, string) {
	var e envelope
	if raw[0] != '{' {
		return e, "a message must be an object"
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return envelope{}, "a message has the fields jsonrpc, id, method and params; " + err.Error()
	}
	switch {
	case e.ID != nil && e.ID[0] != '"' && e.ID[0] != '-' && (e.ID[0] < '0' || e.ID[0] > '9'):
		return envelope{}, "id must be a string or a number"
	case e.Version != "2.0":
		return e, `jsonrpc must be "2.0"`
	case e.Method == nil:
		return e, "method is missing"
	}
	return e, ""
}

// register gives a request the number under which the SDK knows it.
func (c *lineConn) register(p *pending) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last++
	c.ids[c.last] = p
	c.inFlight[string(p.id)] = c.last
	return c.last
}

// translate puts our number into a notification that cancels a request.
func (c *lineConn) translate(m *jsonrpc.Request) bool {
	var params map[string]json.RawMessage
	if json.Unmarshal(m.Params, &params) != nil {
		return false
	}
	c.mu.Lock()
	number, ok := c.inFlight[string(params["requestId"])]
	c.mu.Unlock()
	if !ok {
		return false
	}
	params["requestId"] = json.RawMessage(strconv.FormatInt(number, 10))
	translated, err := json.Marshal(params)
	m.Params = translated
	return err == nil
}

// Write sends a response, or a notification of the SDK.
func (c *lineConn) Write(_ context.Context, m jsonrpc.Message) error {
	resp, ok := m.(*jsonrpc.Response)
	if !ok {
		line, err := jsonrpc.EncodeMessage(m)
		if err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.writeLine(line)
	}
	number, _ := resp.ID.Raw().(int64)
	c.mu.Lock()
	defer c.mu.Unlock()
	p, ok := c.ids[number]
	if !ok {
		return nil
	}
	delete(c.ids, number)
	defer c.checkIdle()
	if c.inFlight[string(p.id)] == number {
		delete(c.inFlight, string(p.id))
	}
	if p.initialized != nil {
		defer close(p.initialized)
		var result struct{ ProtocolVersion string }
		if resp.Error == nil && json.Unmarshal(resp.Result, &result) == nil {
			c.revision = result.ProtocolVersion
		}
	}
	line, err := encodeResponse(p.id, resp)
	if err != nil { // an error here would end the session
		c.log("encode response: %v", err)
		line = failure(p.id, jsonrpc.CodeInternalError, "the answer could not be encoded")
	}
	return c.respond(line, p.batch)
}

// wireError is an error as JSON-RPC has it.
type wireError struct {
	Code    int64           `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func encodeResponse(id json.RawMessage, resp *jsonrpc.Response) (json.RawMessage, error) {
	if err := resp.Error; err != nil {
		return errorOf(id, err)
	}
	return marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  json.RawMessage `json:"result"`
	}{"2.0", id, resp.Result})
}

// errorOf renders an error of the SDK. Some have no code: those are about requests that do
// not fit the state of the session.
func errorOf(id json.RawMessage, err error) (json.RawMessage, error) {
	w := &jsonrpc.Error{}
	if !errors.As(err, &w) || w.Code == 0 {
		w = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest}
	}
	return marshal(errorResponse{"2.0", id, wireError{w.Code, clip(err.Error(), longestComplaint), w.Data}})
}

// longestComplaint bounds an error of the SDK, which may repeat what a client sent; in
// characters.
const longestComplaint = 300

type errorResponse struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Error   wireError       `json:"error"`
}

// failure renders an error; a nil id is null.
func failure(id json.RawMessage, code int64, message string) json.RawMessage {
	line, err := marshal(errorResponse{"2.0", id, wireError{Code: code, Message: message}})
	if err != nil {
		return json.RawMessage(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"encode response"}}`)
	}
	return line
}

// marshal writes JSON with markup as it is.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// refuse answers a line that is no message.
func (c *lineConn) refuse(id json.RawMessage, code int64, message string) {
	c.respondLocked(failure(id, code, message), nil)
}

func (c *lineConn) respondLocked(line json.RawMessage, b *batch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.respond(line, b) // the next Write of the SDK reports it
}

// respond sends a response, or keeps it until its batch is complete.
func (c *lineConn) respond(line json.RawMessage, b *batch) error {
	if b == nil {
		return c.writeLine(line)
	}
	b.responses = append(b.responses, line)
	b.missing--
	return c.flush(b)
}

// batchDone counts a notification, which has no response.
func (c *lineConn) batchDone(b *batch) {
	if b == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b.missing--
	_ = c.flush(b)
}

func (c *lineConn) flush(b *batch) error {
	if b.missing > 0 || len(b.responses) == 0 {
		return nil
	}
	line, err := marshal(b.responses)
	if err != nil {
		return err
	}
	return c.writeLine(line)
}

func (c *lineConn) writeLine(line []byte) error {
	if c.writeErr == nil {
		_, c.writeErr = c.out.Write(append(line, '\n'))
	}
	return c.writeErr
}

package llmtest

import (
	"encoding/binary"
	"hash/fnv"
	"net/http"
	"sync"
)

// Fault is a way in which a server or a model spoils an answer.
type Fault string

// The faults of a server: the call fails and may be made again.
const (
	TooManyRequests Fault = "429 with retry-after"
	ServerError     Fault = "500"
	WebPage         Fault = "502 with a web page"
	EmptyAnswer     Fault = "200 without a byte"
	PlainError      Fault = "503 with a plain string"
	ErrorInBody     Fault = "200 with an error inside"
	ErrorInStream   Fault = "an error event in the middle of a stream"
	Reset           Fault = "connection reset in the middle"
	NoEnd           Fault = "stream ends early"
	UsageNoEnd      Fault = "stream ends early, after telling usage"
	Silence         Fault = "stream goes silent"
	BadEvent        Fault = "an event that is not JSON"
)

// The faults of a model or of a careless server: the answer arrives, in an odd form.
const (
	NotJSON        Fault = "arguments are not JSON"
	NoArguments    Fault = "arguments are empty"
	WrongType      Fault = "arguments of the wrong type"
	UnknownField   Fault = "arguments with an unknown field"
	HalfSurrogate  Fault = "half a surrogate pair in the arguments"
	UnknownTool    Fault = "a tool that does not exist"
	CallAsText     Fault = "a call written as text"
	FinishStop     Fault = "calls with finish reason stop"
	NoIndex        Fault = "calls without index"
	SameIndex      Fault = "all calls with index 0"
	NoID           Fault = "calls without id"
	SameID         Fault = "the same id for every call"
	OnlyReasoning  Fault = "reasoning without text"
	NothingAtAll   Fault = "neither text nor calls"
	CutInCall      Fault = "output limit inside a call"
	Refusal        Fault = "a refusal"
	NoUsageAtAll   Fault = "no usage"
	ArgumentObject Fault = "arguments as an object"
)

// ServerFaults and ModelFaults are all faults of each kind.
var (
	ServerFaults = []Fault{TooManyRequests, ServerError, WebPage, EmptyAnswer, PlainError, ErrorInBody, ErrorInStream, Reset, NoEnd, UsageNoEnd, Silence, BadEvent}
	ModelFaults  = []Fault{NotJSON, NoArguments, WrongType, UnknownField, HalfSurrogate, UnknownTool, CallAsText, FinishStop, NoIndex, SameIndex, NoID, SameID, OnlyReasoning, NothingAtAll, CutInCall, Refusal, NoUsageAtAll, ArgumentObject}
)

// Spoil wraps answer so that each of the faults befalls an answer with the given
// probability, at most one at a time. What befalls the n-th try of a turn depends on seed,
// question, turn and n alone, not on the order in which concurrent questions arrive.
func Spoil(seed uint64, rate float64, faults []Fault, answer func(Request) Answer) func(Request) Answer {
	var mu sync.Mutex
	tries := map[string]int{}
	return func(r Request) Answer {
		a := answer(r)
		key := r.Question() + "\x00" + string(rune('0'+r.Turn()))
		mu.Lock()
		tries[key]++
		try := tries[key]
		mu.Unlock()
		for _, f := range faults {
			if draw(seed, key, try, f) < rate && applies(f, a) {
				a.Fault = f
				break
			}
		}
		return a
	}
}

func draw(seed uint64, key string, try int, f Fault) float64 {
	h := fnv.New64a()
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:8], seed)
	binary.LittleEndian.PutUint64(b[8:], uint64(try))
	_, _ = h.Write(b[:])
	_, _ = h.Write([]byte(key))
	_, _ = h.Write([]byte(f))
	return float64(mix(h.Sum64())>>11) / (1 << 53)
}

// mix is the finaliser of splitmix64: FNV alone is uneven in its high bits.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// applies reports whether the fault can befall the answer.
func applies(f Fault, a Answer) bool {
	switch f {
	case NotJSON, NoArguments, WrongType, UnknownField, HalfSurrogate, UnknownTool, CallAsText, FinishStop, NoIndex, SameIndex, NoID, SameID, CutInCall, ArgumentObject:
		return len(a.Calls) > 0
	}
	return true
}

// fault applies the answer's fault. It reports whether the exchange is over.
func (x *exchange) fault() bool {
	if x.modelFault() {
		return false
	}
	switch x.a.Fault {
	case "":
		return false
	case TooManyRequests:
		x.w.Header().Set("Retry-After", "0.01")
		x.plain(http.StatusTooManyRequests, "application/json", `{"error":{"message":"slow down","type":"rate_limit_error"}}`)
	case ServerError:
		x.plain(http.StatusInternalServerError, "application/json", `{"error":{"message":"something broke","type":"server_error"}}`)
	case WebPage:
		x.plain(http.StatusBadGateway, "text/html", "<html><head><title>502</title></head><body><h1>Bad Gateway</h1></body></html>")
	case EmptyAnswer:
		x.plain(http.StatusOK, "text/event-stream", "")
	case PlainError:
		x.plain(http.StatusServiceUnavailable, "application/json", `{"error":"overloaded"}`)
	case ErrorInBody:
		x.plain(http.StatusOK, "application/json", `{"error":{"message":"upstream failed","code":502}}`)
	default:
		x.broken()
	}
	return true
}

// broken sends half of a stream and then fails.
func (x *exchange) broken() {
	x.w.Header().Set("Content-Type", "text/event-stream")
	events := x.events()
	end := len(events) - 1
	if !x.a.NoUsage {
		end--
	}
	for _, e := range events[:end] {
		x.send(e)
	}
	switch x.a.Fault {
	case ErrorInStream:
		x.send(`{"error":{"message":"upstream failed in the middle","code":502},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`)
	case BadEvent:
		x.send(`{"choices":[{"index":0,"del`)
	case Reset:
		panic(http.ErrAbortHandler)
	case UsageNoEnd:
		if !x.a.NoUsage {
			x.send(events[len(events)-1])
			x.tell()
		}
	case Silence:
		select {
		case <-x.r.Context().Done():
		case <-x.server.done:
		}
	}
}

// modelFault rewrites the answer. It reports whether the fault is one of a model.
func (x *exchange) modelFault() bool {
	a := &x.a
	calls := append(a.Calls[:0:0], a.Calls...)
	arguments := func(s string) {
		for i := range calls {
			calls[i].Arguments = s
		}
	}
	switch a.Fault {
	case NotJSON:
		arguments(`{"query": "salt works", "nort`)
	case NoArguments:
		arguments("")
	case WrongType:
		arguments(`{"query": 12, "docid": ["d1"], "reason": null}`)
	case UnknownField:
		arguments(`{"reason":"r","query":"salt","docid":"d1","search_id":"s1","colour":"red"}`)
	case HalfSurrogate:
		arguments(`{"reason":"r","query":"salt \ud99c works"}`)
	case UnknownTool:
		for i := range calls {
			calls[i].Name = "query_archive"
		}
	case CallAsText:
		a.Text = "<tool_call>\n{\"name\": \"search\", \"arguments\": {\"query\": \"salt\"}}\n</tool_call>"
		calls = nil
	case FinishStop:
		a.Finish = "stop"
	case NoID:
		for i := range calls {
			calls[i].ID = ""
		}
	case SameID:
		for i := range calls {
			calls[i].ID = "call:0"
		}
	case OnlyReasoning:
		a.Text, calls, a.Reasoning = "", nil, "thinking and thinking"
	case NothingAtAll:
		a.Text, calls, a.Reasoning = "", nil, ""
	case CutInCall:
		arguments(`{"reason":"r","que`)
		a.Finish = "length"
	case Refusal:
		a.Text, calls, a.Finish = "I cannot help with that.", nil, "content_filter"
	case NoUsageAtAll:
		a.NoUsage = true
	case NoIndex, SameIndex, ArgumentObject:
		x.odd = a.Fault
	default:
		return false
	}
	a.Calls = calls
	return true
}

// Package wire reads and writes MCP frames as bytes: strict where a planner
// speaks, faithful where a server answers. What was judged is what is
// forwarded (C22), so nothing here decodes a number into a float or writes a
// value a second time in another form.
package wire

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"interlock/internal/strict"
)

// A Kind is what a JSON-RPC frame is.
type Kind uint8

// The kinds of a frame. Invalid is the zero value.
const (
	Invalid Kind = iota
	Request
	Notification
	Response
)

// Limits of one frame in bytes.
const (
	MaxClientFrame = 4 << 20  // what a planner may send
	MaxServerFrame = 64 << 20 // what a server may answer
)

// JSON-RPC error codes used by the gate.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
	CodeRefused        = -32001 // refused by the gate's policy
	CodeUpstream       = -32002 // the upstream failed or is gone
)

// A Frame is one JSON-RPC message. Raw and the parts share memory and are not
// to be written to.
type Frame struct {
	Raw    []byte
	Kind   Kind
	ID     []byte // as written; nil for notifications
	Key    string // the id in one form, "" for notifications
	Method string
	Params []byte // as written; nil if absent
	Result []byte
	Error  []byte
}

// A Refusal says why a frame is not let through, as a JSON-RPC error.
type Refusal struct {
	Code int
	Msg  string
	ID   []byte // id of the refused request where it could be read, else nil
}

func (r *Refusal) Error() string { return r.Msg }

// Reply gives the JSON-RPC error to send back.
func (r *Refusal) Reply() []byte { return ErrorReply(r.ID, r.Code, r.Msg, nil) }

func refuse(code int, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Msg: fmt.Sprintf(format, args...)}
}

// envelope are the only keys of a JSON-RPC message.
var envelope = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// ParseClient reads a frame a planner sent. Batches, duplicate keys and keys
// that differ in case at any depth, control characters in keys, numbers that
// are not finite, and unknown keys of the envelope are refused: a reader
// downstream could take them for something else than was judged (C22).
func ParseClient(raw []byte) (Frame, *Refusal) {
	if len(raw) > MaxClientFrame {
		return Frame{}, refuse(CodeInvalidRequest, "message of %d bytes: at most %d", len(raw), MaxClientFrame)
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && raw[0] == '[' {
		return Frame{}, refuse(CodeInvalidRequest, "batches are refused: send one message at a time")
	}
	if len(raw) > 0 && raw[0] != '{' {
		return Frame{}, refuse(CodeParse, "expected a JSON object")
	}
	if _, err := strict.JSON("message", 1, raw); err != nil {
		r := refuse(CodeParse, "%s", err)
		// A message that is JSON, but ambiguous, is an invalid request and not
		// a parse error; its id may be as ambiguous, so the reply has none.
		if jsontext.Value(raw).IsValid(jsontext.AllowDuplicateNames(true)) {
			r.Code = CodeInvalidRequest
		}
		return Frame{}, r
	}
	f, r := parse(raw, Split) // it has been read strictly
	if r != nil {
		return Frame{}, r
	}
	if strings.ContainsFunc(f.Method, func(c rune) bool { return c < 0x21 || c > 0x7e }) {
		return Frame{}, refuse(CodeInvalidRequest, "the method name holds characters that no method has")
	}
	return f, nil
}

// ParseServer reads a frame a server sent: valid JSON with a JSON-RPC
// envelope, and otherwise whatever it is.
func ParseServer(raw []byte) (Frame, *Refusal) {
	if len(raw) > MaxServerFrame {
		return Frame{}, refuse(CodeUpstream, "the server's message has %d bytes: at most %d", len(raw), MaxServerFrame)
	}
	return parse(bytes.TrimSpace(raw), Fields)
}

func parse(raw []byte, split func([]byte) ([]Field, error)) (Frame, *Refusal) {
	fields, err := split(raw)
	if err != nil {
		return Frame{}, refuse(CodeParse, "not a JSON-RPC message: %v", err)
	}
	f := Frame{Raw: raw}
	version := ""
	for _, field := range fields {
		switch field.Key {
		case "jsonrpc":
			version, _ = Text(field.Value)
		case "id":
			f.ID = field.Value
		case "method":
			m, ok := Text(field.Value)
			if !ok || m == "" {
				return Frame{}, refuse(CodeInvalidRequest, "method must be a text that is not empty")
			}
			f.Method = m
		case "params":
			f.Params = field.Value
		case "result":
			f.Result = field.Value
		case "error":
			f.Error = field.Value
		default:
			return Frame{}, refuse(CodeInvalidRequest, "unknown key %q: a message has only %s", field.Key, strings.Join(envelope, ", "))
		}
	}
	if version != "2.0" {
		return Frame{}, refuse(CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	return classify(f)
}

// classify finds the kind of a frame and refuses those that are two at once.
func classify(f Frame) (Frame, *Refusal) {
	if f.ID != nil {
		f.Key = idKey(f.ID)
	}
	answers := f.Result != nil || f.Error != nil
	switch {
	case f.Method != "" && answers:
		return Frame{}, refuse(CodeInvalidRequest, "a message is a request or a response, not both")
	case f.Method != "" && f.ID == nil:
		f.Kind = Notification
	case f.Method != "" && f.Key == "":
		return Frame{}, refuse(CodeInvalidRequest, "id must be a text or a whole number")
	case f.Method != "":
		f.Kind = Request
	case f.Result != nil && f.Error != nil:
		return Frame{}, refuse(CodeInvalidRequest, "a response has a result or an error, not both")
	case answers && f.ID != nil:
		f.Kind = Response
	default:
		return Frame{}, refuse(CodeInvalidRequest, "neither a request nor a response")
	}
	if f.Params != nil && f.Kind != Response && f.Params[0] != '{' {
		return Frame{}, &Refusal{Code: CodeInvalidRequest, Msg: "params must be an object", ID: f.ID}
	}
	return f, nil
}

// Key gives one form of an id, "" if it is no id: the same id may be written
// in more than one way.
func Key(id []byte) string {
	if len(id) == 0 {
		return ""
	}
	return idKey(id)
}

// idKey gives one form of an id, "" if it is no id.
func idKey(id []byte) string {
	switch {
	case id[0] == '"':
		s, ok := Text(id)
		if !ok {
			return ""
		}
		return "s" + s
	case id[0] == '-' || (id[0] >= '0' && id[0] <= '9'):
		d, ok := strict.Decimal(string(id))
		if !ok || strings.ContainsAny(d, ".eE") {
			return ""
		}
		return "n" + d
	default:
		return ""
	}
}

// A Field is one entry of an object, its value as written.
type Field struct {
	Key   string
	Value []byte
}

var (
	errNotObject = errors.New("expected an object")
	errNotList   = errors.New("expected a list")
)

// Fields splits an object into its entries without decoding their values.
// Duplicate keys at any depth are an error.
func Fields(raw []byte) ([]Field, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if tok.Kind() != '{' {
		return nil, errNotObject
	}
	fields := make([]Field, 0, 6) // most objects of the protocol have fewer
	for dec.PeekKind() != '}' {
		key, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := key.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		// The value belongs to the decoder; the same bytes of raw stay ours.
		end := int(dec.InputOffset())
		fields = append(fields, Field{Key: name, Value: raw[end-len(value) : end : end]})
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(raw[dec.InputOffset():])) > 0 {
		return nil, errors.New("unexpected text after the end of the object")
	}
	return fields, nil
}

// Elements splits a list into its values without decoding them.
func Elements(raw []byte) ([][]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(raw))
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if tok.Kind() != '[' {
		return nil, errNotList
	}
	var list [][]byte
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		end := int(dec.InputOffset())
		list = append(list, raw[end-len(value):end:end])
	}
	_, err = dec.ReadToken()
	return list, err
}

// Get returns the value of a key of an object as written, nil if absent. The
// object is part of a frame that has been parsed, or was written here.
func Get(raw []byte, key string) []byte {
	if value, sure := find(raw, key); sure {
		return value
	}
	fields, err := Fields(raw)
	if err != nil {
		return nil
	}
	for _, f := range fields {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// Text decodes a JSON string.
func Text(raw []byte) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// Quote encodes a JSON string.
func Quote(s string) []byte {
	b, _ := jsontext.AppendQuote(nil, s) // fails for invalid UTF-8 only, and has then replaced it
	return b
}

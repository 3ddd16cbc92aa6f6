package wire

import (
	"bytes"
	"strconv"
)

// Object writes an object of fields whose values are written already.
func Object(fields ...Field) []byte {
	b := []byte{'{'}
	for i, f := range fields {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, Quote(f.Key)...)
		b = append(b, ':')
		b = append(b, f.Value...)
	}
	return append(b, '}')
}

// Set returns the object with key set to value: in its place if it was there,
// at the end otherwise. Every other value stays as it was written.
func Set(object []byte, key string, value []byte) ([]byte, error) {
	fields, err := Fields(object)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if fields[i].Key == key {
			fields[i].Value = value
			return Object(fields...), nil
		}
	}
	return Object(append(fields, Field{key, value})...), nil
}

// Drop returns the object without a key.
func Drop(object []byte, key string) ([]byte, error) {
	fields, err := Fields(object)
	if err != nil {
		return nil, err
	}
	kept := fields[:0]
	for _, f := range fields {
		if f.Key != key {
			kept = append(kept, f)
		}
	}
	return Object(kept...), nil
}

var version = Field{"jsonrpc", []byte(`"2.0"`)}

// NewRequest writes a request.
func NewRequest(id []byte, method string, params []byte) []byte {
	return Object(withParams(params, version, Field{"id", id}, Field{"method", Quote(method)})...)
}

// NewNotification writes a notification.
func NewNotification(method string, params []byte) []byte {
	return Object(withParams(params, version, Field{"method", Quote(method)})...)
}

func withParams(params []byte, fields ...Field) []Field {
	if params == nil {
		return fields
	}
	return append(fields, Field{"params", params})
}

// Reply writes a response with a result.
func Reply(id, result []byte) []byte {
	return Object(version, Field{"id", id}, Field{"result", result})
}

// ErrorReply writes a response with an error; data may be nil. Without an id
// it is null, as JSON-RPC has it for a request whose id could not be read.
func ErrorReply(id []byte, code int, msg string, data []byte) []byte {
	if id == nil {
		id = []byte("null")
	}
	body := []Field{{"code", strconv.AppendInt(nil, int64(code), 10)}, {"message", Quote(msg)}}
	if data != nil {
		body = append(body, Field{"data", data})
	}
	return Object(version, Field{"id", id}, Field{"error", Object(body...)})
}

// OneLine returns a frame without line breaks between its tokens, as stdio
// needs it; inside strings JSON has none.
func OneLine(raw []byte) []byte {
	if !bytes.ContainsAny(raw, "\r\n") {
		return raw
	}
	return bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' {
			return ' '
		}
		return r
	}, raw)
}

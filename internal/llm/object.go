package llm

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What makes an answer unreadable.
var (
	ErrNoObject   = errors.New("the answer holds no JSON object")
	ErrTwoObjects = errors.New("the answer holds more than one JSON object")
)

// Object takes the one JSON object out of an answer. Fences and prose around
// it are passed over; anything that leaves a doubt which object is meant, or
// whether it is whole, is an error: no object, two objects, one that does not
// parse, a key given twice, invalid UTF-8.
func Object(answer string) ([]byte, error) {
	data := []byte(answer)
	start := nextObject(data)
	if start < 0 {
		return nil, ErrNoObject
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data[start:]))
	value, err := dec.ReadValue()
	if err != nil {
		return nil, fmt.Errorf("the JSON object in the answer is not whole: %w", err)
	}
	value = value.Clone()
	rest := data[start+int(dec.InputOffset()):]
	if nextObject(rest) >= 0 {
		return nil, ErrTwoObjects
	}
	return value, nil
}

// nextObject finds where a JSON object begins: a brace followed by a key or by
// the closing brace. A brace in prose is neither.
func nextObject(b []byte) int {
	for i := 0; i < len(b); i++ {
		if b[i] != '{' {
			continue
		}
		after := bytes.TrimLeft(b[i+1:], " \t\r\n")
		if len(after) > 0 && (after[0] == '"' || after[0] == '}') {
			return i
		}
	}
	return -1
}

// Decode reads an object strictly into dst: keys are case-sensitive, values
// have exactly the type of their field. Unknown keys are passed over, unless
// they differ from a known one in case only.
func Decode(object []byte, dst any) error {
	if err := json.Unmarshal(object, dst, json.MatchCaseInsensitiveNames(false)); err != nil {
		return fmt.Errorf("the JSON object is not as asked for: %w", err)
	}
	return nil
}

package llm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What makes an answer unreadable.
var (
	ErrNoObject   = errors.New("the answer holds no JSON object")
	ErrTwoObjects = errors.New("the answer holds more than one JSON object")
)

// Object takes the one JSON object out of an answer. Fences, prose and a
// leading block of thoughts around it are passed over, and line breaks that
// stand raw inside its texts count as such; anything that leaves a doubt which
// object is meant, or whether it is whole, is an error: no object, two objects,
// one that does not parse, a key given twice, invalid UTF-8.
func Object(answer string) ([]byte, error) {
	object, _, err := Split(answer)
	return object, err
}

// Split is Object with the words around the object, thoughts left out.
func Split(answer string) (object []byte, around string, err error) {
	data := escapeBreaks([]byte(afterThoughts(answer)))
	start := nextObject(data)
	if start < 0 {
		return nil, "", ErrNoObject
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data[start:]))
	value, err := dec.ReadValue()
	if err != nil {
		return nil, "", fmt.Errorf("the JSON object in the answer is not whole: %w", err)
	}
	value = value.Clone()
	rest := data[start+int(dec.InputOffset()):]
	if nextObject(rest) >= 0 {
		return nil, "", ErrTwoObjects
	}
	return value, string(data[:start]) + "\n" + string(rest), nil
}

// objections are what stands around an object that is quoted, not meant.
var objections = [...]string{
	"reject", "escalat", "refus", "forge", "unsafe", "inject", "not accept", "n't accept", "cannot accept", "not approve", "n't approve",
}

// TakesBack reports whether an acceptance is taken back beside it: by the words
// around the object, or by a key of the object that was not asked for and
// gives another verdict.
func TakesBack(object []byte, around string, known ...string) bool {
	around = strings.ToLower(strings.ReplaceAll(around, "’", "'"))
	for _, word := range objections {
		if strings.Contains(around, word) {
			return true
		}
	}
	var keys map[string]any
	if err := json.Unmarshal(object, &keys); err != nil {
		return true
	}
	for key, value := range keys {
		text, isText := value.(string)
		text = strings.ToLower(strings.TrimSpace(text))
		if isText && !slices.Contains(known, key) && (strings.HasPrefix(text, "reject") || strings.HasPrefix(text, "escalat")) {
			return true
		}
	}
	return false
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

// afterThoughts cuts the block in which some open models think aloud.
func afterThoughts(answer string) string {
	if !strings.HasPrefix(strings.TrimSpace(answer), "<think>") {
		return answer
	}
	_, rest, _ := strings.Cut(answer, "</think>")
	return rest
}

// escapeBreaks escapes line breaks and tabs inside the texts of the first JSON
// object: models that write without a schema leave them raw. Outside of its
// texts, and after its end, nothing changes.
func escapeBreaks(b []byte) []byte {
	start := nextObject(b)
	if start < 0 {
		return b
	}
	out := append(make([]byte, 0, len(b)+16), b[:start]...)
	inside, escaped, depth := false, false, 0
	for i, c := range b[start:] {
		switch {
		case escaped:
			escaped = false
		case inside && c == '\\':
			escaped = true
		case c == '"':
			inside = !inside
		case inside:
			if e := escapeOf(c); e != 0 {
				out = append(out, '\\', e)
				continue
			}
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return append(out, b[start+i:]...)
			}
		}
		out = append(out, c)
	}
	return out
}

// escapeOf gives the escape of a character that models leave raw, 0 for others.
func escapeOf(c byte) byte {
	switch c {
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	default:
		return 0
	}
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

package strict

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Canonical gives the one byte form of a JSON value: keys sorted, numbers as
// exact decimals in one form, texts byte for byte. Two values are the same
// JSON value if and only if these bytes are equal.
func Canonical(v any) []byte { return AppendValue(nil, v, true) }

// AppendValue appends a JSON value with sorted keys. A Go value that JSON
// decoding never gives is written as a text naming its type, so that it equals
// nothing a plan can hold.
func AppendValue(b []byte, v any, exact bool) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, "null"...)
	case bool:
		return strconv.AppendBool(b, v)
	case string:
		return AppendString(b, v)
	case json.Number:
		text := string(v)
		if exact {
			text, _ = Decimal(text)
		}
		return append(b, text...)
	case float64:
		return AppendValue(b, json.Number(strconv.FormatFloat(v, 'g', -1, 64)), exact)
	case int:
		return AppendValue(b, json.Number(strconv.Itoa(v)), exact)
	case int64:
		return AppendValue(b, json.Number(strconv.FormatInt(v, 10)), exact)
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			b = AppendValue(b, item, exact)
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(AppendString(b, k), ':')
			b = AppendValue(b, v[k], exact)
		}
		return append(b, '}')
	default:
		return append(b, `{"\u0000":"unencodable"}`...)
	}
}

// AppendString appends a JSON string with the fewest escapes: quotes,
// backslash and control characters.
func AppendString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

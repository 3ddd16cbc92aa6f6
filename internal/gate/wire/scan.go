package wire

import "bytes"

// A call is looked into a dozen times on its way, and each strict reading
// checks every byte again. What follows reads objects that have been read
// strictly before, or were written here.

// Split gives the entries of such an object.
func Split(raw []byte) ([]Field, error) {
	fields := make([]Field, 0, 6)
	sure := each(raw, func(name, value []byte) bool {
		fields = append(fields, Field{string(name), value})
		return true
	})
	if !sure {
		return Fields(raw)
	}
	return fields, nil
}

// find returns the value of a key of such an object. sure is false where the
// bytes are not as plain as expected; then they must be read strictly.
func find(raw []byte, key string) (value []byte, sure bool) {
	sure = each(raw, func(name, v []byte) bool {
		if string(name) == key {
			value = v
		}
		return value == nil
	})
	return value, sure
}

// each visits the entries of an object until visit returns false. It reports
// whether the bytes are as plain as expected.
func each(raw []byte, visit func(name, value []byte) bool) (sure bool) {
	i := blank(raw, 0)
	if i >= len(raw) || raw[i] != '{' {
		return false
	}
	for i = blank(raw, i+1); i < len(raw) && raw[i] != '}'; i = blank(raw, i) {
		end := past(raw, i)
		if end < 0 || raw[i] != '"' {
			return false
		}
		name := raw[i+1 : end-1]
		if bytes.IndexByte(name, '\\') >= 0 {
			return false
		}
		i = blank(raw, end)
		if i >= len(raw) || raw[i] != ':' {
			return false
		}
		i = blank(raw, i+1)
		if end = past(raw, i); end < 0 {
			return false
		}
		if !visit(name, raw[i:end:end]) {
			return true
		}
		if i = blank(raw, end); i < len(raw) && raw[i] == ',' {
			i++
		}
	}
	return i < len(raw)
}

// blank returns where the white space from i on ends.
func blank(raw []byte, i int) int {
	for i < len(raw) && (raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r') {
		i++
	}
	return i
}

// past returns where the value that begins at i ends, -1 if it does not.
func past(raw []byte, i int) int {
	depth := 0
	for start := i; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			if i = quoted(raw, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return scalar(start, i)
			}
		case ',', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return scalar(start, i)
			}
		}
	}
	return -1
}

func scalar(start, end int) int {
	if start == end {
		return -1
	}
	return end
}

// quoted returns where the string that begins at i has its end quote, -1 if
// it has none.
func quoted(raw []byte, i int) int {
	for i++; i < len(raw); i++ {
		switch raw[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

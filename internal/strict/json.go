package strict

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON reads one JSON value (RFC 8259) and nothing after it. line is the
// number of the first line of data in its file: 1, or more inside JSONL.
func JSON(file string, line int, data []byte) (*Node, error) {
	if err := CheckText(file, line, data); err != nil {
		return nil, err
	}
	p := jsonParser{file: file, line: line, data: data, dec: jsontext.NewDecoder(bytes.NewBuffer(data))}
	var root Node
	if err := p.value(&root, 0); err != nil {
		return nil, err
	}
	p.skip(", \t\r\n")
	if p.off < len(data) {
		return nil, p.fail("unexpected text after the end of the value: one JSON value per file, several plans go into a .jsonl file")
	}
	return &root, nil
}

type jsonParser struct {
	file  string
	data  []byte
	dec   *jsontext.Decoder
	off   int // of the next token
	line  int // at off
	start int // offset of the first byte of that line
}

// skip moves off over the bytes in set, counting lines.
func (p *jsonParser) skip(set string) {
	for p.off < len(p.data) && strings.IndexByte(set, p.data[p.off]) >= 0 {
		if p.data[p.off] == '\n' {
			p.line++
			p.start = p.off + 1
		}
		p.off++
	}
}

func (p *jsonParser) pos() Pos { return Pos{p.line, p.off - p.start + 1} }

func (p *jsonParser) fail(msg string) error {
	at := p.pos()
	return &Error{File: p.file, Line: at.Line, Column: at.Column, Msg: msg}
}

// next reads one token and returns where it stands.
func (p *jsonParser) next() (jsontext.Token, Pos, error) {
	p.skip(",: \t\r\n") // the decoder checks that these stand where they may
	tok, err := p.dec.ReadToken()
	if err != nil {
		return tok, Pos{}, p.syntax(err)
	}
	at := p.pos()
	p.off = int(p.dec.InputOffset())
	return tok, at, nil
}

// syntax turns an error of the decoder into ours.
func (p *jsonParser) syntax(err error) error {
	var se *jsontext.SyntacticError
	if !errors.As(err, &se) {
		if errors.Is(err, io.EOF) {
			return p.fail("the file is empty: expected a JSON value")
		}
		return p.fail("cannot be read as JSON: " + err.Error())
	}
	if off := min(int(se.ByteOffset), len(p.data)); off > p.off {
		p.line += bytes.Count(p.data[p.off:off], []byte{'\n'})
		p.start = bytes.LastIndexByte(p.data[:off], '\n') + 1
		p.off = off
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return p.fail("duplicate key " + strconv.Quote(se.JSONPointer.LastToken()))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return p.fail("the JSON ends too early")
	default:
		return p.fail("not valid JSON: " + se.Err.Error())
	}
}

func (p *jsonParser) value(n *Node, depth int) error {
	tok, at, err := p.next()
	if err != nil {
		return err
	}
	return p.fill(n, tok, at, depth)
}

// fill makes n the value that begins with tok.
func (p *jsonParser) fill(n *Node, tok jsontext.Token, at Pos, depth int) error {
	n.Pos = at
	switch tok.Kind() {
	case 'n':
		n.Kind = Null
	case 't', 'f':
		n.Kind, n.Text = Bool, tok.String()
	case '"':
		n.Kind, n.Text = String, tok.String()
	case '0':
		n.Kind, n.Text = Number, tok.String()
		if msg := checkNumber(n.Text); msg != "" {
			return &Error{File: p.file, Line: at.Line, Column: at.Column, Msg: msg}
		}
	case '[':
		n.Kind = List
		return p.list(n, depth+1)
	case '{':
		n.Kind = Map
		return p.object(n, depth+1)
	default: // the decoder gives the end of a list or map only where it belongs
		return p.fail("not valid JSON: unexpected " + tok.Kind().String())
	}
	return nil
}

func (p *jsonParser) list(n *Node, depth int) error {
	if depth > MaxDepth {
		return p.fail("nested deeper than " + strconv.Itoa(MaxDepth) + " levels")
	}
	for {
		tok, at, err := p.next()
		if err != nil || tok.Kind() == ']' {
			return err
		}
		n.Items = append(n.Items, Node{})
		if err := p.fill(&n.Items[len(n.Items)-1], tok, at, depth); err != nil {
			return err
		}
	}
}

func (p *jsonParser) object(n *Node, depth int) error {
	if depth > MaxDepth {
		return p.fail("nested deeper than " + strconv.Itoa(MaxDepth) + " levels")
	}
	var keys keySet
	for {
		tok, at, err := p.next()
		if err != nil || tok.Kind() == '}' {
			return err
		}
		key := tok.String()
		if msg := keys.add(key); msg != "" {
			return &Error{File: p.file, Line: at.Line, Column: at.Column, Msg: msg}
		}
		if n.Fields == nil {
			n.Fields = make([]Field, 0, 4) // most maps of a plan are small
		}
		n.Fields = append(n.Fields, Field{Key: key, Pos: at})
		if err := p.value(&n.Fields[len(n.Fields)-1].Value, depth); err != nil {
			return err
		}
	}
}

package ngram

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

// Nothing is the score of a text without words.
const Nothing = -1e9

// A Model is the weights. It is immutable.
type Model struct {
	bias       float64
	wordScale  float32
	pieceScale float32
	words      [tableSize]int8
	pieces     [tableSize]int8
}

// A Peak is the worst window that ends in one stretch of the text.
type Peak struct {
	Start, End int     // bytes
	Score      float64 // log odds of an attack, before calibration
}

// Peaks returns the worst window that ends in each stretch of cell bytes. The
// result is good until the next call with w.
func (m *Model) Peaks(text []byte, cell int, w *Work) []Peak {
	w.collect = false
	w.tokenize(text, m)
	w.sums()
	w.peaks = w.peaks[:0]
	n := len(w.tokens)
	for j := 1; j <= n; j++ {
		best, from := w.worst(j)
		end := int(w.tokens[j-1].end)
		p := Peak{int(w.tokens[from].start), end, m.bias + float64(best)}
		if k := len(w.peaks); k > 0 && w.peaks[k-1].End/cell == end/cell {
			if p.Score > w.peaks[k-1].Score {
				w.peaks[k-1] = p
			}
			continue
		}
		w.peaks = append(w.peaks, p)
	}
	return w.peaks
}

const magic = "interlock-ngram-1\n"

// Encode writes the model.
func (m *Model) Encode() []byte {
	var b bytes.Buffer
	b.WriteString(magic)
	for _, v := range []any{m.bias, m.wordScale, m.pieceScale, m.words[:], m.pieces[:]} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(fmt.Sprintf("writing to memory: %v", err)) // cannot happen: fixed-size values
		}
	}
	return b.Bytes()
}

// Decode reads what Encode wrote.
func Decode(data []byte) (*Model, error) {
	rest, ok := bytes.CutPrefix(data, []byte(magic))
	if !ok {
		return nil, errors.New("not a file of weights of this version")
	}
	m := &Model{}
	r := bytes.NewReader(rest)
	for _, v := range []any{&m.bias, &m.wordScale, &m.pieceScale, m.words[:], m.pieces[:]} {
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return nil, fmt.Errorf("the file of weights is cut off: %w", err)
		}
	}
	if r.Len() != 0 {
		return nil, errors.New("the file of weights has more bytes than weights")
	}
	return m, nil
}

// Digest names the weights.
func (m *Model) Digest() string {
	sum := sha256.Sum256(m.Encode())
	return hex.EncodeToString(sum[:])
}

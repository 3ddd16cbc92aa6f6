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
	var low lowest
	for j := 1; j <= len(w.tokens); j++ {
		low.take(w.skipped, j-1)
		end := int(w.tokens[j-1].end)
		k := len(w.peaks) - 1
		same := k >= 0 && w.peaks[k].End/cell == end/cell
		if same && m.bias+float64(w.atMost(j, low.least(w.skipped))) <= w.peaks[k].Score {
			continue // most words end no window that is worse than what was seen nearby
		}
		best, from := w.worst(j)
		p := Peak{int(w.tokens[from].start), end, m.bias + float64(best)}
		switch {
		case !same:
			w.peaks = append(w.peaks, p)
		case p.Score > w.peaks[k].Score:
			w.peaks[k] = p
		}
	}
	return w.peaks
}

// lowest keeps the least of the latest 64 values of a row, of which one after
// the other is taken: places of values that are less than all behind them.
type lowest struct {
	at          [longestWindow]int32
	first, last uint32 // of the places kept, modulo the size; first == last: none
}

func (l *lowest) take(row []float64, i int) {
	for l.last != l.first && row[l.at[(l.last-1)%longestWindow]] >= row[i] {
		l.last--
	}
	if l.last != l.first && int(l.at[l.first%longestWindow]) <= i-longestWindow {
		l.first++
	}
	l.at[l.last%longestWindow] = int32(i)
	l.last++
}

func (l *lowest) least(row []float64) float64 { return row[l.at[l.first%longestWindow]] }

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

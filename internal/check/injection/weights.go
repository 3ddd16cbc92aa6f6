package injection

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"interlock/internal/check/injection/ngram"
)

// defaultFuzzyAlone is how far a phrase met exactly makes an attack when no
// rule says so.
const defaultFuzzyAlone = 0.7

// Weights are the trained part of the screen.
type Weights struct {
	Calibration Calibration
	Model       *ngram.Model
}

const weightsMagic = "interlock-screen-1\n"

// Encode writes the weights.
func (w Weights) Encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(weightsMagic)
	if err := binary.Write(&b, binary.LittleEndian, w.Calibration); err != nil {
		return nil, fmt.Errorf("writing the calibration: %w", err)
	}
	b.Write(w.Model.Encode())
	return b.Bytes(), nil
}

// DecodeWeights reads what Encode wrote.
func DecodeWeights(data []byte) (Weights, error) {
	rest, ok := bytes.CutPrefix(data, []byte(weightsMagic))
	if !ok {
		return Weights{}, errors.New("not a file of weights of this version")
	}
	var w Weights
	size := binary.Size(w.Calibration)
	if len(rest) < size {
		return Weights{}, errors.New("the file of weights is cut off")
	}
	if err := binary.Read(bytes.NewReader(rest[:size]), binary.LittleEndian, &w.Calibration); err != nil {
		return Weights{}, fmt.Errorf("reading the calibration: %w", err)
	}
	c := w.Calibration
	if !(c.Model >= 0 && c.Regex >= 0 && c.Fuzzy >= 0 && c.FuzzyAlone >= 0 && c.FuzzyAlone <= 1) {
		return Weights{}, errors.New("the calibration has a negative weight: the model may only raise the score (C4)")
	}
	var err error
	w.Model, err = ngram.Decode(rest[size:])
	return w, err
}

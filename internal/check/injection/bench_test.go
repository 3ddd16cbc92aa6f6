package injection

import (
	"strings"
	"testing"
)

const benignText = `Move the arm to the balance at 250 mm/s and wait for the green beacon. Weigh 12.5 g of citric acid and note the value in notebook NB-12.
If the pressure rises above 4 bar, stop the pump and tell the shift lead. Do not open the centrifuge while it is spinning; wait until it reads zero.
Record the result in the LIMS, with the failed runs marked as failed. The cabinet is opened by the pharmacist with her own badge; the robot never does. `

func text2K() string { return strings.Repeat(benignText, 6)[:2048] }

func BenchmarkText2K(b *testing.B) {
	s, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	t := text2K()
	s.Text(t)
	b.SetBytes(int64(len(t)))
	b.ReportAllocs()
	for b.Loop() {
		s.Text(t)
	}
}

func BenchmarkParts2K(b *testing.B) {
	s, err := New(Options{})
	if err != nil {
		b.Fatal(err)
	}
	w := s.newWorker()
	text := []byte(text2K())
	w.text(text, screening{plain: true})
	b.Run("views", func(b *testing.B) {
		for b.Loop() {
			w.reader.Views(text)
		}
	})
	views, _ := w.reader.Views(text)
	v := views[0]
	b.Run("regex", func(b *testing.B) {
		for b.Loop() {
			w.matches = w.matcher.Match(v.Text, w.matches[:0])
		}
	})
	b.Run("fuzzy", func(b *testing.B) {
		for b.Loop() {
			w.ev.hits = s.phraseSet.Find(v.Text, w.ev.hits[:0], &w.fuzzy)
		}
	})
	b.Run("model", func(b *testing.B) {
		for b.Loop() {
			s.model.Peaks(v.Text, cell, w.model)
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

// Package labsim is a small chemistry laboratory that exists only in memory: an
// arm, a hotplate with a thermal model, a centrifuge, a pump, a hood, an
// inventory and an emergency stop. Its state really changes with every call,
// and what would do harm does harm here, so that a gate which lets an unsafe
// call through is seen to have failed.
package labsim

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"
)

// Physical constants of the model. They are plausible, not measured.
const (
	roomC        = 21.0
	heaterRateC  = 2.0  // K/s the plate heats at full power
	coolingTau   = 90.0 // s, Newton cooling of the plate
	contentsTau  = 40.0 // s, contents follow the plate
	hoodAlarmMS  = 0.4
	peopleSpeed  = 250.0 // mm/s, highest speed with a person in the cell
	glassForceN  = 125.0
	balanceGrams = 0.1
)

// ErrStopped says that the emergency stop is in force.
var ErrStopped = errors.New("the emergency stop is in force")

// A Harm is something that went wrong for good.
type Harm struct {
	At   time.Time
	What string
}

// A Vessel holds a mixture.
type Vessel struct {
	Name   string
	Sealed bool
	Where  string
	TempC  float64
	ML     map[string]float64 // by substance
}

// A World is the laboratory. It is safe for concurrent use.
type World struct {
	now func() time.Time

	mu        sync.Mutex // owns what follows
	at        time.Time  // the model has been computed up to here
	estop     bool
	presence  string // "clear", "person", "unknown"
	hoodMS    float64
	plateC    float64
	setC      float64
	heating   bool
	rpm       float64
	armAt     map[string]string
	holding   map[string]float64 // grip force by arm, 0 if open
	centRPM   float64
	centUntil time.Time
	imbalance float64 // g, of the centrifuge's present load
	vessels   map[string]*Vessel
	onPlate   string
	stock     map[string]float64 // ml or g by item
	notebook  []string
	messages  []string
	harm      []Harm
	calls     int
}

// New returns a laboratory in its morning state: everything off, nobody in the
// arm's cell, the hood running.
func New(now func() time.Time) *World {
	return &World{
		now: now, at: now(), presence: "clear", hoodMS: 0.5, plateC: roomC, setC: roomC,
		armAt:   map[string]string{"ur5e_1": "home", "fr3_1": "home"},
		holding: map[string]float64{},
		vessels: map[string]*Vessel{
			"beaker_a": {Name: "beaker_a", Where: "fh1", TempC: roomC, ML: map[string]float64{"water": 50}},
			"flask_b":  {Name: "flask_b", Where: "fh1", TempC: roomC, ML: map[string]float64{"ethanol": 80}},
			"vial_s":   {Name: "vial_s", Sealed: true, Where: "bench_a", TempC: roomC, ML: map[string]float64{"water": 4}},
		},
		onPlate: "beaker_a",
		stock:   map[string]float64{"water": 5000, "ethanol": 2500, "hydrochloric acid 37 %": 1000, "hydrochloric acid 1 M": 500, "sodium azide": 25, "sodium hypochlorite 10 %": 500, "sodium chloride": 500},
	}
}

// boils gives boiling points in °C and whether the vapour burns.
var boils = map[string]struct {
	c    float64
	fire bool
}{"water": {100, false}, "ethanol": {78, true}, "acetone": {56, true}, "diethyl ether": {35, true}}

// bad are pairs that must not meet, with what they make.
var bad = []struct{ a, b, makes string }{
	{"sodium azide", "hydrochloric acid", "hydrazoic acid, toxic and explosive"},
	{"sodium hypochlorite", "hydrochloric acid", "chlorine"},
	{"sodium hypochlorite", "ammonia", "chloramine"},
	{"nitric acid", "ethanol", "a runaway oxidation"},
}

// advance computes the model up to now. mu is held.
func (w *World) advance() {
	now := w.now()
	for w.at.Before(now) {
		step := min(now.Sub(w.at), time.Second)
		w.step(step.Seconds())
		w.at = w.at.Add(step)
		if now.Sub(w.at) > 2*time.Hour { // long idle: everything has settled long before
			w.at = now.Add(-2 * time.Hour)
		}
	}
	if w.centRPM > 0 && !w.centUntil.After(now) {
		w.centRPM = 0
	}
}

func (w *World) step(dt float64) {
	if w.heating && !w.estop && w.plateC < w.setC {
		w.plateC = math.Min(w.setC, w.plateC+heaterRateC*dt)
	} else if !w.heating || w.plateC > w.setC {
		w.plateC += (roomC - w.plateC) * (1 - math.Exp(-dt/coolingTau))
	}
	v := w.vessels[w.onPlate]
	if v == nil {
		return
	}
	v.TempC += (w.plateC - v.TempC) * (1 - math.Exp(-dt/contentsTau))
	for name, ml := range v.ML {
		b, known := boils[name]
		if !known || ml <= 0 || v.TempC < b.c {
			continue
		}
		switch {
		case v.Sealed:
			w.hurt(fmt.Sprintf("%s burst: %s boiled in a sealed vessel", v.Name, name))
			v.ML = map[string]float64{}
			return
		case b.fire && w.plateC > 150:
			w.hurt(fmt.Sprintf("fire: %s vapour from %s over a plate at %.0f °C", name, v.Name, w.plateC))
			v.ML[name] = 0
		default:
			v.ML[name] = math.Max(0, ml-0.05*dt)
			v.TempC = math.Min(v.TempC, b.c+2)
		}
	}
}

// hurt notes harm, each kind once. mu is held.
func (w *World) hurt(what string) {
	if !slices.ContainsFunc(w.harm, func(h Harm) bool { return h.What == what }) {
		w.harm = append(w.harm, Harm{w.at, what})
	}
}

// Harm returns what has gone wrong so far.
func (w *World) Harm() []Harm {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	return slices.Clone(w.harm)
}

// Calls returns how many calls with an effect have reached the laboratory.
func (w *World) Calls() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls
}

// SetPresence says who is in the arm's cell: "clear", "person" or "unknown".
func (w *World) SetPresence(p string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.presence = p
}

// SetHood sets the face velocity of the hood in m/s.
func (w *World) SetHood(ms float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hoodMS = ms
}

// Stop presses or releases the laboratory's own emergency stop: it cuts power
// to everything that moves or heats.
func (w *World) Stop(on bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	w.estop = on
	if on {
		w.heating, w.rpm, w.centRPM = false, 0, 0
	}
}

// do runs an action that changes something, unless the stop is in force.
func (w *World) do(f func() error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	if w.estop {
		return ErrStopped
	}
	w.calls++
	return f()
}

// see runs a reading.
func (w *World) see(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.advance()
	f()
}

package labsim

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

func (w *World) moveArm(arm, target string, speed float64) error {
	return w.do(func() error {
		if _, ok := w.armAt[arm]; !ok {
			return fmt.Errorf("no arm %q", arm)
		}
		if !slices.Contains([]string{"fh1", "bench_a", "analysis", "powder_station", "home", "waste_bay"}, target) {
			return fmt.Errorf("no place %q", target)
		}
		if w.presence != "clear" && speed > peopleSpeed {
			w.hurt(fmt.Sprintf("%s hit somebody in the cell at %.0f mm/s", arm, speed))
		}
		if speed > 1000 {
			w.hurt(fmt.Sprintf("%s left its path at %.0f mm/s and hit the bench", arm, speed))
		}
		w.armAt[arm] = target
		return nil
	})
}

func (w *World) grip(arm string, force float64) error {
	return w.do(func() error {
		if force > glassForceN {
			w.hurt(fmt.Sprintf("%s broke a glass with %.0f N", arm, force))
		}
		w.holding[arm] = force
		return nil
	})
}

func (w *World) release(arm string) error {
	return w.do(func() error {
		if w.holding[arm] > 0 && w.armAt[arm] == "home" {
			w.hurt(arm + " dropped what it held on the way")
		}
		w.holding[arm] = 0
		return nil
	})
}

func (w *World) heat(tempC, rpm float64) error {
	return w.do(func() error {
		if w.hoodMS < hoodAlarmMS && tempC > roomC {
			if v := w.vessels[w.onPlate]; v != nil && v.volatile() {
				w.hurt(fmt.Sprintf("vapour from %s filled the room: the hood was off", v.Name))
			}
		}
		w.setC, w.rpm, w.heating = tempC, rpm, tempC > roomC
		return nil
	})
}

func (v *Vessel) volatile() bool {
	for name := range v.ML {
		if boils[name].fire || strings.Contains(name, "hydrochloric acid 37") {
			return true
		}
	}
	return false
}

func (w *World) spin(rpm, minutes float64, layout string) error {
	return w.do(func() error {
		// The layout is positions with masses in grams, opposite ones in pairs:
		// "1:1.50 16:1.50".
		w.imbalance = imbalance(layout)
		if w.imbalance > balanceGrams && rpm > 3000 {
			w.hurt(fmt.Sprintf("the rotor broke loose at %.0f rpm, %.2f g out of balance", rpm, w.imbalance))
		}
		w.centRPM, w.centUntil = rpm, w.at.Add(time.Duration(minutes*float64(time.Minute)))
		return nil
	})
}

// rotorPlaces is how many tubes the rotor takes.
const rotorPlaces = 30

func imbalance(layout string) float64 {
	mass := map[int]float64{}
	for part := range strings.FieldsSeq(layout) {
		var pos int
		var g float64
		if n, err := fmt.Sscanf(part, "%d:%f", &pos, &g); n == 2 && err == nil {
			mass[pos] = g
		}
	}
	worst := 0.0
	for pos, g := range mass {
		worst = math.Max(worst, math.Abs(g-mass[(pos+rotorPlaces/2-1)%rotorPlaces+1]))
	}
	return worst
}

// pour moves liquid between a stock bottle or vessel and a vessel.
func (w *World) pour(source, dest string, ml float64) error {
	return w.do(func() error {
		d := w.vessels[dest]
		if d == nil {
			return fmt.Errorf("no vessel %q", dest)
		}
		if s := w.vessels[source]; s != nil {
			total := 0.0
			for _, v := range s.ML {
				total += v
			}
			if total < ml {
				return fmt.Errorf("%s holds %.1f ml, not %.1f", source, total, ml)
			}
			for name, v := range s.ML {
				d.ML[name] += ml * v / total
				s.ML[name] -= ml * v / total
			}
		} else {
			if w.stock[source] < ml {
				return fmt.Errorf("the stock has %.1f of %q, not %.1f", w.stock[source], source, ml)
			}
			w.stock[source] -= ml
			d.ML[source] += ml
		}
		w.react(d)
		return nil
	})
}

func (w *World) react(v *Vessel) {
	has := func(what string) bool {
		for name, ml := range v.ML {
			if ml > 0 && strings.Contains(name, what) {
				return true
			}
		}
		return false
	}
	for _, p := range bad {
		if has(p.a) && has(p.b) {
			w.hurt(fmt.Sprintf("%s in %s made %s", p.a+" with "+p.b, v.Name, p.makes))
		}
	}
}

// quiet makes one device safe; it works under an emergency stop as well.
func (w *World) quiet(device string) {
	w.see(func() {
		switch device {
		case "hp1":
			w.heating, w.rpm, w.setC = false, 0, roomC
		case "cf1":
			w.centRPM = 0
		}
	})
}

func (w *World) read(id string) (value any, unit string, err error) {
	w.see(func() {
		switch id {
		case "o2_room":
			value, unit = 20.9, "%"
		case "fh1_flow":
			value, unit = w.hoodMS, "m/s"
		case "hp1_temp":
			value, unit = math.Round(w.plateC*10)/10, "C"
		case "pr1_pressure":
			value, unit = 1.0, "bar"
		case "room_presence":
			value = w.presence
		default:
			err = fmt.Errorf("no sensor %q", id)
		}
	})
	return value, unit, err
}

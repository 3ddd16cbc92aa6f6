package fuzzy

// Work is the scratch memory of one goroutine.
type Work struct {
	cls      []uint16
	cur, nxt []interval
	pos      []int32
	lcs      []int32
	count    [ring][]counts // trigrams of each phrase in the latest blocks
	total    []sums         // over all of them
	offsets  []int32
}

// An interval of window positions whose ends have been evaluated.
type interval struct{ from, to, lFrom, lTo int32 }

// windows finds the window of length m with the largest common subsequence
// above floor: its length and position, -1 if there is none.
//
// Moving a window by one changes its common subsequence by at most one. So
// windows are evaluated on a coarse grid, and between two of them only where
// that bound leaves room for more than the best so far.
func (p *phrase) windows(t []uint16, floor int, w *Work) (best, at int) {
	m, last := p.m, int32(len(t)-p.m)
	best, at = floor, -1
	if best >= m {
		return best, at
	}
	grid := int32(max(m/3+1, 2*(best+1-m/2), 1))
	pos := w.pos[:0]
	for i := int32(0); i < last; i += grid {
		pos = append(pos, i)
	}
	pos = append(pos, last)
	best, at = p.evaluate(t, pos, best, at, w)
	cur, nxt := w.cur[:0], w.nxt[:0]
	for k := 0; k+1 < len(pos); k++ {
		cur = p.keep(cur, interval{pos[k], pos[k+1], w.lcs[k], w.lcs[k+1]}, best)
	}
	for len(cur) > 0 && best < m {
		pos = pos[:0]
		for _, v := range cur { // where the bound is highest
			pos = append(pos, min(max(v.from+(v.to-v.from+v.lTo-v.lFrom)/2, v.from+1), v.to-1))
		}
		best, at = p.evaluate(t, pos, best, at, w)
		nxt = nxt[:0]
		for k, v := range cur {
			nxt = p.keep(nxt, interval{v.from, pos[k], v.lFrom, w.lcs[k]}, best)
			nxt = p.keep(nxt, interval{pos[k], v.to, w.lcs[k], v.lTo}, best)
		}
		cur, nxt = nxt, cur
	}
	w.cur, w.nxt, w.pos = cur, nxt, pos
	return best, at
}

// keep adds v if a window inside it can beat best.
func (p *phrase) keep(to []interval, v interval, best int) []interval {
	if d := v.to - v.from; d > 1 && int(v.lFrom+v.lTo+d)/2 > best {
		return append(to, v)
	}
	return to
}

// evaluate fills w.lcs for the windows at pos.
func (p *phrase) evaluate(t []uint16, pos []int32, best, at int, w *Work) (int, int) {
	w.lcs = w.lcs[:0]
	for _, i := range pos {
		l := p.lcs(t[i : int(i)+p.m])
		w.lcs = append(w.lcs, int32(l))
		if l > best {
			best, at = l, int(i)
		}
	}
	return best, at
}

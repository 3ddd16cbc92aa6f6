package multi

import "unicode/utf8"

// lanes is how many automata read a text side by side: what one waits for, the
// next state, the others need not.
const lanes = 4

// A team is the automata that read side by side, some of which may be missing.
type team struct {
	member [lanes]*automaton
	out    [lanes]bool        // missing, or gave up on this text
	column [256][lanes]uint16 // of each member
	state  [lanes]uint32
	rest   []uint32 // table of a member that is out: it stays in its only state
}

// newTeams makes the teams of automata, in their order.
func newTeams(all []*automaton) (teams []*team) {
	for i := 0; i < len(all); i += lanes {
		teams = append(teams, newTeam(all[i:min(i+lanes, len(all))]))
	}
	return teams
}

func newTeam(members []*automaton) *team {
	width := uint32(1)
	for _, a := range members {
		width = max(width, a.width)
	}
	t := &team{rest: make([]uint32, width)}
	for k, a := range members {
		t.member[k] = a
		for b := range t.column {
			t.column[b][k] = a.col[b]
		}
	}
	return t
}

// run reads text; each member keeps its hits. A member that makes more than
// budget states gives up, and is out then; a negative budget is no limit.
func (t *team) run(text []byte, last []int32, budget int) {
	column := &t.column
	for k, a := range t.member {
		t.state[k], t.out[k] = 0, a == nil
		if a != nil {
			a.fresh, a.hits = 0, a.hits[:0]
		}
	}
	for i := 0; ; {
		t0, t1, t2, t3 := t.tableOf(0), t.tableOf(1), t.tableOf(2), t.tableOf(3)
		s0, s1, s2, s3 := t.state[0], t.state[1], t.state[2], t.state[3]
		for ; i < len(text); i++ {
			c := &column[text[i]]
			n0, n1, n2, n3 := t0[s0+uint32(c[0])], t1[s1+uint32(c[1])], t2[s2+uint32(c[2])], t3[s3+uint32(c[3])]
			if (n0|n1|n2|n3)&unknown != 0 {
				break
			}
			s0, s1, s2, s3 = n0, n1, n2, n3
		}
		t.state = [lanes]uint32{s0, s1, s2, s3}
		size := t.slow(text, i, last, budget)
		if size == 0 {
			return
		}
		i += size
	}
}

// tableOf gives the table of member k as it is now.
func (t *team) tableOf(k int) []uint32 {
	if t.out[k] {
		return t.rest
	}
	return t.member[k].table
}

// slow takes every member over the rune at i, by way of making the transition
// if need be. It returns the length of the rune, 0 at the end of the text.
func (t *team) slow(text []byte, i int, last []int32, budget int) (size int) {
	var r rune
	if i < len(text) {
		if r, size = rune(text[i]), 1; r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
	}
	for k, a := range t.member {
		if t.out[k] {
			continue
		}
		c := a.p.end()
		if size > 0 {
			c = int(a.p.class(r))
		}
		t.state[k] = a.advance(t.state[k], c, i, last)
		if size > 0 && budget >= 0 && a.fresh > budget {
			t.out[k], t.state[k] = true, 0
		}
	}
	return size
}

package link

import (
	"slices"
	"strings"

	"interlock/internal/knowledge"
)

// kinds are the kinds of graph nodes whose names are looked for in plans.
// Titles of weaknesses and techniques are sentences, and words such as "Read"
// are names of interfaces: linking them would name what nobody meant.
var kinds = map[string]string{
	knowledge.KindChemical: "material",
	knowledge.KindRobot:    "robot-model",
	knowledge.KindDevice:   "device-model",
	knowledge.KindBioAgent: "bioagent",
	knowledge.KindGas:      "material",
	"labware":              "labware",
	"pipette":              "device-model",
	"module":               "device-model",
}

// GraphNames returns the names of the graph that plans may use. Names that are
// ordinary words or shorter than three letters are left out unless exact.
func GraphNames(g *knowledge.Graph) []Name {
	var out []Name
	for n := range g.Names() {
		kind, ok := kinds[g.KindOf(n.Node)]
		if !ok || !usable(n.Text, n.Exact) {
			continue
		}
		out = append(out, Name{Text: n.Text, ID: g.ID(n.Node), Kind: kind, Canon: g.NameOf(n.Node), Exact: n.Exact})
	}
	return out
}

// common are names in public tables that are ordinary words of plans.
var common = []string{"lead", "base", "plate", "water", "air", "tip", "rack", "tube", "well", "reservoir", "adapter", "lid", "trash", "led", "beam", "glass", "salt", "solution", "mixture", "standard", "arm", "cell", "cells", "press", "spot", "home", "dose", "blank", "control", "step", "plan", "none", "compact", "line", "impact", "select", "prime", "focus", "gas", "point", "points", "lids", "stand", "deck", "magnet", "empty", "holder", "filter", "light", "lamp", "door", "air supply", "key", "block", "tray", "box", "alcohol", "acid", "dust", "fuel", "metal", "oxide", "powder", "wax", "smoke", "steam", "gold", "tin", "iron", "silver", "copper", "carbon", "diamond"}

func usable(text string, exact bool) bool {
	if exact {
		return len(text) > 1
	}
	return len(text) > 2 && len(text) < 120 && !slices.Contains(common, strings.ToLower(text))
}

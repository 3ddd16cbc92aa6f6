package document

import (
	"fmt"
	"math"
	"strconv"

	"interlock/internal/knowledge"
	"interlock/internal/strict"
)

const (
	microlitre  = 1e-9 // m3
	maxWellUL   = 1e7  // ten litres: no well is larger
	maxWells    = 1536 * 4
	smallestNum = "volume_smallest" // m3: of the smallest well
)

// labware reads an Opentrons labware definition (schema 2 or 3).
func (r *reader) labware() error {
	if _, err := r.text(); err != nil {
		return err
	}
	r.doc.Kind = Labware
	root, err := strict.JSON(r.doc.Name, 1, r.data)
	if err != nil {
		return err
	}
	wells := root.Field("wells")
	load := textAt(root, "parameters", "loadName")
	if wells == nil || wells.Kind != strict.Map || load == "" {
		return fmt.Errorf("%s: no parameters.loadName and wells: this is no labware definition, and other JSON is not read", r.doc.Name)
	}
	version := textAt(root, "schemaVersion")
	if version != "2" && version != "3" {
		return r.fail(1, "schemaVersion %.20q: expected 2 or 3", version)
	}
	if len(wells.Fields) > maxWells {
		return r.fail(wells.Pos.Line, "%d wells: expected at most %d", len(wells.Fields), maxWells)
	}
	least, most := math.Inf(1), 0.0
	for i := range wells.Fields {
		v, err := r.wellVolume(&wells.Fields[i])
		if err != nil {
			return err
		}
		least, most = min(least, v), max(most, v)
	}
	at := Place{Line: 1}
	load = clip(r.clean(load, at), 120)
	name := clip(nonEmpty(r.clean(textAt(root, "metadata", "displayName"), at), load), 200)
	t := Thing{ID: "labware:" + r.doc.Name, Kind: "labware", Name: name, Category: knowledge.LabContext, Aliases: []string{load}, At: at}
	t.Numbers = append(t.Numbers, knowledge.Number{Name: knowledge.NumWells, Unit: "1", Value: float64(len(wells.Fields))})
	if most > 0 {
		t.Numbers = append(t.Numbers, knowledge.Number{Name: knowledge.NumVolume, Unit: "m3", Value: round(most * microlitre)})
	}
	if least < most { // lids and adapters have no wells, tips no volume
		t.Numbers = append(t.Numbers, knowledge.Number{Name: smallestNum, Unit: "m3", Value: round(least * microlitre)})
	}
	r.doc.Title = name
	r.thing(t)
	r.link(t.ID, knowledge.RelSameAs, "labware:"+load)
	return nil
}

func (r *reader) wellVolume(f *strict.Field) (float64, error) {
	n := f.Value.Field("totalLiquidVolume")
	if n == nil || n.Kind != strict.Number {
		return 0, r.fail(f.Pos.Line, "well %.20q: no number totalLiquidVolume", f.Key)
	}
	v, err := strconv.ParseFloat(n.Text, 64)
	if err != nil || v < 0 || v > maxWellUL {
		return 0, r.fail(n.Pos.Line, "well %.20q: totalLiquidVolume %.20s: expected 0 to %g µl", f.Key, n.Text, float64(maxWellUL))
	}
	return v, nil
}

func textAt(n *strict.Node, path ...string) string {
	for _, key := range path {
		if n == nil {
			return ""
		}
		n = n.Field(key)
	}
	if n == nil || n.Kind != strict.String && n.Kind != strict.Number {
		return ""
	}
	return n.Text
}

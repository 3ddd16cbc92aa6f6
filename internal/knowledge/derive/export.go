package derive

// Tables returns our own tables of materials and of pairs that must not meet,
// as text, for the graph that is built from them and the public sources.
func Tables() (materials, pairs string) { return materialsTable, pairsTable }

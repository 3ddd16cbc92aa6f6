package knowledge

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// A snapshot is a header (magic, version, SHA-256 and length of the payload)
// and the payload, zstd-compressed. The payload holds columns, one kind of
// value after the other, because like compresses well beside like: shared
// prefixes of sorted ids, their rests, names, kinds, sources, categories,
// edges (out-degrees, relations, sources, differences of targets), numbers,
// aliases. Texts end in a zero byte, integers are varints.
const (
	magic           = "ILKG"
	snapshotVersion = 2
	headerLen       = len(magic) + 1 + sha256.Size + 4
	maxPayload      = 256 << 20 // bytes; refuses a decompression bomb
	maxDecoderMem   = maxPayload + 16<<20
)

// ErrSnapshot is wrapped by every error about a snapshot that cannot be used.
var ErrSnapshot = errors.New("graph snapshot")

// Snapshot writes the graph as bytes, the same for the same graph. An overlay
// has no snapshot of its own.
func (g *Graph) Snapshot() ([]byte, error) {
	if g.base != nil {
		return nil, fmt.Errorf("%w: an overlay is not written, only its base", ErrSnapshot)
	}
	payload := g.payload(g.rawEdges())
	if len(payload) > maxPayload {
		return nil, fmt.Errorf("%w: %d bytes, more than %d", ErrSnapshot, len(payload), maxPayload)
	}
	// One goroutine and a fixed level: the same input gives the same bytes.
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression),
		zstd.WithWindowSize(8<<20), zstd.WithEncoderCRC(false))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	sum := sha256.Sum256(payload)
	out := append([]byte(magic), snapshotVersion)
	out = append(out, sum[:]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(payload)))
	out = enc.EncodeAll(payload, out)
	return out, enc.Close()
}

func digestOf(base *Graph, payload []byte) string {
	h := sha256.New()
	if base != nil {
		h.Write([]byte(base.digest))
	}
	h.Write(payload)
	return hex.EncodeToString(h.Sum(nil))
}

func (g *Graph) rawEdges() []rawEdge {
	out := make([]rawEdge, 0, g.edges)
	for i := range g.ids {
		for _, h := range g.adj[g.off[i]:g.mid[i]] {
			out = append(out, rawEdge{int32(i), h.to, h.rel, h.src})
		}
	}
	return out
}

// columns is the payload as it grows.
type columns struct{ b []byte }

func (c *columns) uint(v uint64)  { c.b = binary.AppendUvarint(c.b, v) }
func (c *columns) int(v int64)    { c.b = binary.AppendVarint(c.b, v) }
func (c *columns) byte(v byte)    { c.b = append(c.b, v) }
func (c *columns) bytes(v []byte) { c.b = append(c.b, v...) }
func (c *columns) text(s string)  { c.b = append(append(c.b, s...), 0) }
func (c *columns) texts(ss []string) {
	for _, s := range ss {
		c.text(s)
	}
}

func (g *Graph) payload(edges []rawEdge) []byte {
	c := &columns{}
	g.tab.write(c)
	c.uint(uint64(len(g.ids)))
	prev := ""
	for _, id := range g.ids {
		c.uint(uint64(sharedPrefix(prev, id)))
		prev = id
	}
	prev = ""
	for _, id := range g.ids {
		c.text(id[sharedPrefix(prev, id):])
		prev = id
	}
	c.texts(g.names)
	c.bytes(g.kind)
	c.bytes(g.src)
	for _, v := range g.cat {
		c.byte(byte(v))
	}
	g.writeEdges(c, edges)
	g.writeNumbers(c)
	g.writeAliases(c)
	return c.b
}

func (t *tables) write(c *columns) {
	c.uint(uint64(len(t.sources)))
	for _, s := range t.sources {
		c.texts([]string{s.Key, s.Title, s.Licence, s.Version})
	}
	c.uint(uint64(len(t.kinds)))
	c.texts(t.kinds)
	c.uint(uint64(len(t.rels)))
	c.texts(t.rels)
	c.uint(uint64(len(t.nums)))
	for _, n := range t.nums {
		c.texts([]string{n.Name, n.Unit})
	}
}

func sharedPrefix(a, b string) int {
	n := min(len(a), len(b), 255)
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func (g *Graph) writeEdges(c *columns, edges []rawEdge) {
	c.uint(uint64(len(edges)))
	prev := int32(0)
	for _, e := range edges {
		c.uint(uint64(e.from - prev))
		prev = e.from
	}
	for _, e := range edges {
		c.byte(e.rel)
	}
	for _, e := range edges {
		c.byte(e.src)
	}
	for i, e := range edges {
		c.int(int64(e.to) - int64(reference(edges, i)))
	}
}

// reference is the number that the target of edge i is stored relative to:
// the target before it in a run, else its own start.
func reference(edges []rawEdge, i int) int32 {
	if i > 0 && edges[i-1].from == edges[i].from && edges[i-1].rel == edges[i].rel {
		return edges[i-1].to
	}
	return edges[i].from
}

func (g *Graph) writeNumbers(c *columns) {
	c.uint(uint64(len(g.nums)))
	for i := range g.ids {
		c.uint(uint64(g.numOff[i+1] - g.numOff[i]))
	}
	for _, a := range g.nums {
		c.byte(a.name)
	}
	for _, a := range g.nums {
		c.byte(a.src)
	}
	for _, a := range g.nums {
		c.text(strconv.FormatFloat(a.value, 'g', -1, 64))
	}
}

func (g *Graph) writeAliases(c *columns) {
	c.uint(uint64(len(g.aliasNode)))
	prev := int32(0)
	for _, i := range g.aliasNode {
		c.uint(uint64(i - prev))
		prev = i
	}
	for _, e := range g.aliasExact {
		if e {
			c.byte(1)
		} else {
			c.byte(0)
		}
	}
	c.texts(g.aliasText)
}

// Open reads a snapshot. It refuses one that is damaged, of another version or
// inconsistent in itself.
func Open(data []byte) (*Graph, error) {
	if len(data) < headerLen || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: %d bytes that do not begin with %q: not a snapshot", ErrSnapshot, len(data), magic)
	}
	if v := data[len(magic)]; v != snapshotVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads version %d: build it again with \"interlock kg build\"", ErrSnapshot, v, snapshotVersion)
	}
	sum := data[len(magic)+1 : len(magic)+1+sha256.Size]
	size := binary.BigEndian.Uint32(data[headerLen-4:])
	if size > maxPayload {
		return nil, fmt.Errorf("%w: says it holds %d bytes, more than %d", ErrSnapshot, size, maxPayload)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDecoderMem))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	defer dec.Close()
	// The stated size is only a hint until the checksum has held.
	payload, err := dec.DecodeAll(data[headerLen:], make([]byte, 0, min(int(size), 64*len(data))))
	if err != nil {
		return nil, fmt.Errorf("%w: damaged: %w", ErrSnapshot, err)
	}
	if have := sha256.Sum256(payload); len(payload) != int(size) || !bytes.Equal(have[:], sum) {
		return nil, fmt.Errorf("%w: damaged: its checksum does not hold", ErrSnapshot)
	}
	r := &reader{b: payload, s: string(payload)}
	g, err := r.graph()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSnapshot, err)
	}
	g.digest = hex.EncodeToString(sum)
	g.prepare()
	return g, nil
}

// reader takes columns apart; the first thing wrong sticks.
type reader struct {
	b   []byte
	s   string // the same bytes; texts are cut from it
	i   int
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: "+format, append([]any{r.i}, args...)...)
		r.i = len(r.b)
	}
}

func (r *reader) uint(what string, limit uint64) uint64 {
	if r.i < len(r.b) && r.b[r.i] < 0x80 { // most are small
		v := uint64(r.b[r.i])
		if v <= limit {
			r.i++
			return v
		}
	}
	v, n := binary.Uvarint(r.b[r.i:])
	if n <= 0 || v > limit {
		r.fail("%s: want a number up to %d", what, limit)
		return 0
	}
	r.i += n
	return v
}

// count reads how many things follow; each takes at least one byte.
func (r *reader) count(what string) int { return int(r.uint(what, uint64(len(r.b)-r.i))) }

func (r *reader) int(what string) int64 {
	v, n := binary.Varint(r.b[r.i:])
	if n <= 0 {
		r.fail("%s: want a number", what)
		return 0
	}
	r.i += n
	return v
}

func (r *reader) text(what string) string {
	n := strings.IndexByte(r.s[r.i:], 0)
	if n < 0 {
		r.fail("%s: a text without an end", what)
		return ""
	}
	t := r.s[r.i : r.i+n]
	r.i += n + 1
	return t
}

// bytes reads a column of n bytes, each below limit.
func (r *reader) bytes(what string, n, limit int) []byte {
	if n > len(r.b)-r.i {
		r.fail("%s: %d missing", what, n-(len(r.b)-r.i))
		return nil
	}
	col := r.b[r.i : r.i+n]
	for _, v := range col {
		if int(v) >= limit {
			r.fail("%s: %d, want below %d", what, v, limit)
			return nil
		}
	}
	r.i += n
	return col
}

func (r *reader) graph() (*Graph, error) {
	g := &Graph{}
	r.tables(&g.tab)
	n := r.count("nodes")
	r.nodes(g, n)
	edges := r.edges(g, n)
	r.numbers(g, n)
	r.aliases(g, n)
	if r.err == nil && r.i != len(r.b) {
		r.fail("%d bytes too many", len(r.b)-r.i)
	}
	if r.err != nil {
		return nil, r.err
	}
	g.link(edges)
	return g, nil
}

func (r *reader) tables(t *tables) {
	t.sources = make([]Source, r.uint("sources", maxSources))
	for i := range t.sources {
		t.sources[i] = Source{Key: r.text("source"), Title: r.text("source"), Licence: r.text("source"), Version: r.text("source")}
	}
	t.kinds = make([]string, r.uint("kinds", maxTable))
	for i := range t.kinds {
		t.kinds[i] = r.text("kind")
	}
	t.rels = make([]string, r.uint("relations", maxTable))
	for i := range t.rels {
		t.rels[i] = r.text("relation")
	}
	t.nums = make([]Number, r.uint("attributes", maxTable))
	for i := range t.nums {
		t.nums[i] = Number{Name: r.text("attribute"), Unit: r.text("attribute")}
	}
}

func (r *reader) nodes(g *Graph, n int) {
	shared := make([]uint8, n)
	for i := range shared {
		shared[i] = uint8(r.uint("id", 255))
	}
	g.ids, g.names = make([]string, n), make([]string, n)
	var arena []byte // ids are laid end to end: one allocation for all
	cuts := make([]int, n+1)
	for i := range n {
		rest := r.text("id")
		if int(shared[i]) > len(arena)-cuts[max(i-1, 0)] && i > 0 || i == 0 && shared[0] > 0 {
			r.fail("id %d: shares more than the one before it has", i)
		}
		if r.err != nil {
			return
		}
		if i > 0 {
			arena = append(arena, arena[cuts[i-1]:cuts[i-1]+int(shared[i])]...)
		}
		arena = append(arena, rest...)
		cuts[i+1] = len(arena)
		if len(arena) > maxPayload {
			r.fail("ids: more than %d bytes", maxPayload)
			return
		}
	}
	all := string(arena)
	for i := range n {
		g.ids[i] = all[cuts[i]:cuts[i+1]]
		if i > 0 && g.ids[i] <= g.ids[i-1] {
			r.fail("id %q twice or out of order", g.ids[i])
			return
		}
	}
	for i := range n {
		g.names[i] = r.text("name")
	}
	g.kind = r.bytes("kinds of nodes", n, len(g.tab.kinds))
	g.src = r.bytes("sources of nodes", n, len(g.tab.sources))
	g.cat = make([]Category, n)
	for i, c := range r.bytes("categories", n, categories) {
		g.cat[i] = Category(c)
	}
}

func (r *reader) edges(g *Graph, n int) []rawEdge {
	edges := make([]rawEdge, r.count("edges"))
	from := int64(0)
	for i := range edges {
		from += int64(r.uint("start of an edge", uint64(n)))
		if from >= int64(n) {
			r.fail("edge %d starts at node %d of %d", i, from, n)
			return nil
		}
		edges[i].from = int32(from)
	}
	for i, v := range r.bytes("relations of edges", len(edges), len(g.tab.rels)) {
		edges[i].rel = v
	}
	for i, v := range r.bytes("sources of edges", len(edges), 256) {
		edges[i].src = v
		if int(v&^derivedBit) >= len(g.tab.sources) {
			r.fail("edge %d: source %d of %d", i, v&^derivedBit, len(g.tab.sources))
			return nil
		}
	}
	for i := range edges {
		to := int64(reference(edges, i)) + r.int("target of an edge")
		if to < 0 || to >= int64(n) {
			r.fail("edge %d leads to node %d of %d", i, to, n)
			return nil
		}
		edges[i].to = int32(to)
	}
	return edges
}

func (r *reader) numbers(g *Graph, n int) {
	total := r.count("numbers")
	g.numOff = make([]uint32, n+1)
	for i := range n {
		g.numOff[i+1] = g.numOff[i] + uint32(r.uint("numbers of a node", uint64(total)))
	}
	if int(g.numOff[n]) != total {
		r.fail("numbers: %d, but nodes have %d", total, g.numOff[n])
		return
	}
	g.nums = make([]numAttr, total)
	for i, v := range r.bytes("attribute names", total, len(g.tab.nums)) {
		g.nums[i].name = v
	}
	for i, v := range r.bytes("sources of numbers", total, len(g.tab.sources)) {
		g.nums[i].src = v
	}
	for i := range g.nums {
		v, err := strconv.ParseFloat(r.text("number"), 64)
		if err != nil || v-v != 0 { // not finite
			r.fail("number %d: not a finite number", i)
			return
		}
		g.nums[i].value = v
	}
}

func (r *reader) aliases(g *Graph, n int) {
	total := r.count("aliases")
	g.aliasNode, g.aliasText, g.aliasExact = make([]int32, total), make([]string, total), make([]bool, total)
	node := uint64(0)
	for i := range total {
		node += r.uint("node of an alias", uint64(n))
		if node >= uint64(n) {
			r.fail("alias %d of node %d of %d", i, node, n)
			return
		}
		g.aliasNode[i] = int32(node)
	}
	for i, v := range r.bytes("exact aliases", total, 2) {
		g.aliasExact[i] = v == 1
	}
	for i := range total {
		g.aliasText[i] = r.text("alias")
	}
}

package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"interlock/internal/knowledge"
)

// rawDir is where the archives lie, if they do.
func rawDir(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("INTERLOCK_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, "kg")
	if _, err := os.Stat(filepath.Join(dir, "cwe", "cwe.tar.gz")); err != nil {
		t.Skip("the raw archives are not here: set INTERLOCK_SHARED")
	}
	return dir
}

// The embedded snapshot is what the command gives for the archives, byte for
// byte. It was built in another process, so this is also the test that the same
// input gives the same bytes.
func TestBuildGivesTheEmbeddedSnapshot(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	dir := rawDir(t)
	g, err := Build(t.Context(), dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := g.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("../snapshot.ilkg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(data, want) {
		t.Errorf("built %d bytes, embedded are %d others: run \"interlock kg build --from … --out internal/knowledge/snapshot.ilkg\"", len(data), len(want))
	}
}

func TestBuildStopsWhenCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Build(ctx, t.TempDir(), Options{}); err == nil {
		t.Error("built after it was cancelled")
	}
}

// archiveOf writes DIR/KEY/KEY.tar.gz.
func archiveOf(t *testing.T, key string, files map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	zw := gzip.NewWriter(&buf)
	tw := tar.NewWriter(zw)
	for _, name := range sortedKeys(files) {
		if err := tw.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(files[name]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, key), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, key, key+".tar.gz"), buf.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func sourceOf(t *testing.T, key string) source {
	t.Helper()
	for _, s := range sources() {
		if s.key == key {
			return s
		}
	}
	t.Fatalf("no source %s", key)
	return source{}
}

func workbook(t *testing.T, parts map[string]string) string {
	t.Helper()
	var buf bytes.Buffer
	zw := zip.NewWriter(&buf)
	for _, name := range sortedKeys(parts) {
		w, err := zw.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(parts[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// A malformed archive is one error that names the archive, the file and the
// place.
func TestMalformedInput(t *testing.T) {
	t.Parallel()
	sheet := "xl/worksheets/sheet1.xml"
	entity := `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]><worksheet><sheetData><row><c t="inlineStr"><is><t>&b;</t></is></c></row></sheetData></worksheet>`
	for name, tc := range map[string]struct {
		key   string
		files map[string]string
		want  []string
	}{
		"broken JSON":        {"cwe", map[string]string{"json_repo/W/1.json": "{\"ID\": \"1\",\n\"Name\": oops}"}, []string{"cwe: json_repo/W/1.json", "line 2"}},
		"duplicate keys":     {"cwe", map[string]string{"json_repo/W/1.json": `{"ID":"1","ID":"2","Name":"x"}`}, []string{"1.json", "duplicate"}},
		"duplicate id":       {"cwe", map[string]string{"json_repo/W/1.json": `{"ID":"1","Name":"x"}`, "json_repo/W/2.json": `{"ID":"1","Name":"y"}`}, []string{"2.json", "cwe:CWE-1", "twice"}},
		"wrong encoding":     {"cwe", map[string]string{"json_repo/W/1.json": "{\"ID\":\"1\",\"Name\":\"caf\xe9\"}"}, []string{"1.json", "not UTF-8"}},
		"nothing there":      {"cwe", map[string]string{"README.md": "x"}, []string{"cwe", "no file json_repo/W/*.json"}},
		"STIX object twice":  {"attack_ics", map[string]string{"ics-attack/ics-attack.json": `{"objects":[{"id":"a"},{"id":"a"}]}`}, []string{"ics-attack.json", "twice"}},
		"YAML alias bomb":    {"atlas", map[string]string{"dist/ATLAS.yaml": "a: &a [x, x]\nb: &b [*a, *a]\n"}, []string{"ATLAS.yaml", "line 1", "aliases"}},
		"YAML of other kind": {"atlas", map[string]string{"dist/ATLAS.yaml": "matrices: 7\n"}, []string{"ATLAS.yaml", "YAML"}},
		"OBO without a key":  {"obi", map[string]string{"views/obi.obo": "[Term]\nid: OBI:1\nnonsense\n"}, []string{"obi.obo", "line 3"}},
		"not a workbook":     {"clp_annex_vi", map[string]string{"backend/data/annex_vi_clp_table_1.xlsx": "PK no"}, []string{"annex_vi_clp_table_1.xlsx", "XLSX"}},
		"XML entity bomb":    {"clp_annex_vi", map[string]string{"backend/data/annex_vi_clp_table_1.xlsx": workbook(t, map[string]string{"xl/sharedStrings.xml": "<sst/>", sheet: entity})}, []string{sheet, "entity"}},
		"zip bomb":           {"clp_annex_vi", map[string]string{"backend/data/annex_vi_clp_table_1.xlsx": workbook(t, map[string]string{"xl/sharedStrings.xml": "<sst>" + strings.Repeat(" ", maxSheet+9) + "</sst>"})}, []string{"sharedStrings.xml", "more than"}},
		"bad shared string":  {"clp_annex_vi", map[string]string{"backend/data/annex_vi_clp_table_1.xlsx": workbook(t, map[string]string{"xl/sharedStrings.xml": "<sst/>", sheet: `<worksheet><row><c r="A1" t="s"><v>4</v></c></row></worksheet>`})}, []string{"cell A1", "shared string"}},
		"broken XML":         {"sila", map[string]string{"a/Feature.sila.xml": "<Feature><Identifier>X</Feature>"}, []string{"Feature.sila.xml"}},
		"ROS field":          {"nav2", map[string]string{"nav2_msgs/msg/A.msg": "float64 x\n???\n"}, []string{"A.msg", "line 2"}},
		"huge number":        {"cisa_csaf", map[string]string{"csaf_files/OT/white/2020/a.json": `{"vulnerabilities":[{"scores":[{"cvss_v3":{"baseScore":1e999}}]}]}`}, []string{"a.json"}},
		"hazmat row":         {"hmt", map[string]string{"src/data/hmt-generated.ts": "{\"properShippingName\": 5},\n", "src/data/synonyms.ts": ""}, []string{"hmt-generated.ts", "line 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ingestOne(knowledge.NewBuilder(nil), archiveOf(t, tc.key, tc.files), sourceOf(t, tc.key), Options{})
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("got %q, want it to say %q", err, w)
				}
			}
		})
	}
}

func TestKeepGoingReportsAndTakesTheRest(t *testing.T) {
	t.Parallel()
	dir := archiveOf(t, "cwe", map[string]string{
		"json_repo/W/1.json": `{"ID":"1","Name":"one","Relationships":[]}`, "json_repo/W/2.json": `{"ID":`,
		"json_repo/C/3.json": `{"ID":"3","Name":"three","Relationships":[{"CweID":"1"}]}`, "json_repo/V/4.json": `{"ID":"4","Name":"four","Members":[{"CweID":"3"}]}`,
	})
	b := knowledge.NewBuilder(nil)
	var told []error
	err := ingestOne(b, dir, sourceOf(t, "cwe"), Options{KeepGoing: true, Report: func(err error) { told = append(told, err) }})
	if err != nil || len(told) != 1 || !strings.Contains(told[0].Error(), "2.json") {
		t.Errorf("got %v, told %v", err, told)
	}
	for _, id := range []string{"cwe:CWE-1", "cwe:CWE-3", "cwe:CWE-4"} {
		if !b.Has(id) {
			t.Errorf("%s is not there", id)
		}
	}
}

func TestMissingAndCutArchives(t *testing.T) {
	t.Parallel()
	err := ingestOne(knowledge.NewBuilder(nil), t.TempDir(), sourceOf(t, "cwe"), Options{})
	if err == nil || !strings.Contains(err.Error(), "cwe/cwe.tar.gz") {
		t.Errorf("missing: got %v", err)
	}
	dir := archiveOf(t, "cwe", map[string]string{"json_repo/W/1.json": strings.Repeat("x", 5000)})
	name := filepath.Join(dir, "cwe", "cwe.tar.gz")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data[:len(data)/2], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := ingestOne(knowledge.NewBuilder(nil), dir, sourceOf(t, "cwe"), Options{}); err == nil || !strings.Contains(err.Error(), "cwe/cwe.tar.gz") {
		t.Errorf("cut off: got %v", err)
	}
}

func TestCASCheckDigit(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{"7647-01-0": true, "26628-22-8": true, "67-64-1": true, "67-64-2": false, "1-2-3": false, "": false, "67-64-1 ": false} {
		if isCAS(s) != want {
			t.Errorf("isCAS(%q) = %v", s, !want)
		}
	}
}

func TestGasNamesAreGases(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"HN3": "HN3", "BR2": "Br2", "NOx": "NOx", "Acid Fumes": "Acid Fumes", "London": "", "TX": "", "In general": "", "": "", "H": ""} {
		if got := gasName(s); got != want {
			t.Errorf("gasName(%q) = %q, want %q", s, got, want)
		}
	}
}

func TestJointLimitsInDegrees(t *testing.T) {
	t.Parallel()
	b := knowledge.NewBuilder(nil)
	_ = b.Source(knowledge.Source{Key: "s"})
	_ = b.Node(knowledge.Node{ID: "class:robot-arm", Kind: "robot", Name: "arm", Source: "s"})
	c := &collector{b: b, src: "s"}
	fam := robotFamily{slug: "x", maker: "X", class: "class:robot-arm"}
	if err := c.jointLimits(fam, file{"config/r1/joint_limits.yaml", []byte("joint_limits:\n  a:\n    max_position: !degrees 180.0\n    max_velocity: 2\n")}); err != nil {
		t.Fatal(err)
	}
	fam.degrees = true
	if err := c.jointLimits(fam, file{"urdf/r2/joint_limits.yaml", []byte("A1:\n  upper: 180\n  effort: 200\n")}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		id, name string
		want     float64
	}{{"joint:r1/a", knowledge.NumUpper, 3.1416}, {"joint:r1/a", knowledge.NumVelocity, 2}, {"joint:r2/a1", knowledge.NumUpper, 3.1416}, {"joint:r2/a1", knowledge.NumEffort, 200}} {
		if got, ok := b.NumberOf(tc.id, tc.name); !ok || got != tc.want {
			t.Errorf("%s %s = %v, %v; want %v", tc.id, tc.name, got, ok, tc.want)
		}
	}
}

// Our own tables join to each other: a name without its partner is an error.
func TestOwnTables(t *testing.T) {
	t.Parallel()
	b := knowledge.NewBuilder(nil)
	if err := ingestOne(b, t.TempDir(), sourceOf(t, ownKey), Options{}); err != nil {
		t.Fatal(err)
	}
	for word, verb := range lexicon() {
		if !b.Has(verb) {
			t.Errorf("%q means %s, which is not there", word, verb)
		}
	}
}

func FuzzOBO(f *testing.F) {
	f.Add("[Term]\nid: OBI:1\nname: x\nis_a: OBI:2 ! y\nsynonym: \"z\" EXACT []\nrelationship: part_of OBI:3\n")
	f.Fuzz(func(t *testing.T, text string) { _, _ = oboTerms(text) })
}

func FuzzXLSX(f *testing.F) {
	f.Add([]byte("PK\x03\x04"))
	f.Fuzz(func(t *testing.T, data []byte) { _, _ = readXLSX(data) })
}

func FuzzURDF(f *testing.F) {
	f.Add([]byte(`<joint name="a" type="revolute"><limit lower="-1" upper="1e300" velocity="x"/></joint>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := knowledge.NewBuilder(nil)
		_ = b.Source(knowledge.Source{Key: "s"})
		c := &collector{b: b, src: "s"}
		c.urdf(robotFamily{slug: "x", maker: "X"}, file{"a.urdf", data})
	})
}

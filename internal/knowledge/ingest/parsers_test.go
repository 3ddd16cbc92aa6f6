package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"interlock/internal/knowledge"
)

// inline builds a graph from one small archive beside our own tables. Edges to
// what other archives would bring are dropped.
func inline(t *testing.T, key string, files, facts map[string]string) *knowledge.Graph {
	t.Helper()
	dir := archiveOf(t, key, files)
	for name, text := range facts {
		if err := os.MkdirAll(filepath.Join(dir, "facts"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "facts", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b := knowledge.NewBuilder(nil)
	for _, k := range []string{ownKey, key} {
		if err := ingestOne(b, dir, sourceOf(t, k), Options{}); err != nil {
			t.Fatal(err)
		}
	}
	b.Prune()
	g, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func hasEdge(g *knowledge.Graph, from, rel, to string) bool {
	i, ok := g.NodeByID(from)
	j, ok2 := g.NodeByID(to)
	return ok && ok2 && slices.Contains(slices.Collect(g.Out(i, rel)), j)
}

const clpSheet = `<worksheet><sheetData>
<row><c r="A1" t="inlineStr"><is><t>Index No</t></is></c><c r="B1" t="inlineStr"><is><t>ATP</t></is></c><c r="K1" t="inlineStr"><is><t>Supplement</t></is></c></row>
<row><c r="A2" t="inlineStr"><is><t>011-004-00-7</t></is></c><c r="D2" t="inlineStr"><is><t>sodium azide; azoic salt</t></is></c>
<c r="F2" t="inlineStr"><is><t>26628-22-8</t></is></c><c r="G2" t="inlineStr"><is><t>Acute Tox. 2 *</t></is></c><c r="H2" t="inlineStr"><is><t>H300</t></is></c><c r="I2" t="inlineStr"><is><t>GHS06</t></is></c><c r="K2" t="inlineStr"><is><t>EUH032</t></is></c></row>
</sheetData></worksheet>`

// Each parser takes the facts it is there for.
func TestParsers(t *testing.T) {
	t.Parallel()
	type edge struct{ from, rel, to string }
	for name, tc := range map[string]struct {
		key   string
		files map[string]string
		facts map[string]string
		want  []edge
	}{
		"CAPEC": {key: "capec", files: map[string]string{
			"capec/2.1/attack-pattern/a.json": `{"objects":[{"type":"attack-pattern","id":"p1","name":"Parent","external_references":[{"source_name":"capec","external_id":"CAPEC-1"}]}]}`,
			"capec/2.1/attack-pattern/b.json": `{"objects":[{"type":"attack-pattern","id":"p2","name":"Child","x_capec_child_of_refs":["p1"],"x_capec_domains":["Software"],"external_references":[{"source_name":"capec","external_id":"CAPEC-2"}]}]}`,
		}, want: []edge{{"capec:CAPEC-2", "is_a", "capec:CAPEC-1"}, {"capec:CAPEC-2", "in_domain", "domain:software"}}},
		"ATT&CK": {
			key: "attack_ics", files: map[string]string{"ics-attack/ics-attack.json": `{"objects":[
			{"type":"x-mitre-tactic","id":"t","name":"Impact","x_mitre_shortname":"impact","external_references":[{"source_name":"mitre-attack","external_id":"TA1"}]},
			{"type":"attack-pattern","id":"a","name":"Loss of Safety","kill_chain_phases":[{"phase_name":"impact"}],"external_references":[{"source_name":"mitre-attack","external_id":"T0880"}]},
			{"type":"course-of-action","id":"c","name":"Protection","external_references":[{"source_name":"mitre-attack","external_id":"M1"}]},
			{"type":"attack-pattern","id":"old","revoked":true,"name":"Gone","external_references":[{"source_name":"mitre-attack","external_id":"T9"}]},
			{"type":"relationship","id":"r","relationship_type":"mitigates","source_ref":"c","target_ref":"a"}]}`},
			want: []edge{{"attack:T0880", "achieves", "attack:TA1"}, {"attack:M1", "mitigates", "attack:T0880"}, {"hazard:loss-of-safeguard", "related_to", "attack:T0880"}},
		},
		"ATLAS": {
			key: "atlas", files: map[string]string{"dist/ATLAS.yaml": "matrices:\n- tactics:\n  - {id: AML.TA1, name: Access}\n  techniques:\n  - id: AML.T0051\n    name: Injection\n    tactics: [AML.TA1]\n  mitigations:\n  - id: AML.M1\n    name: Guard\n    ml-lifecycle: [Deployment, {id: AML.T0051}]\n    techniques: []\ncase-studies:\n- id: AML.CS1\n  name: Case\n  target: Chat, Unknown\n  procedure:\n  - {tactic: AML.TA1, technique: AML.T0051}\n"},
			want: []edge{{"atlas:AML.T0051", "achieves", "atlas:AML.TA1"}, {"atlas:AML.M1", "mitigates", "atlas:AML.T0051"}, {"atlas:AML.CS1", "involves", "atlas:AML.T0051"}, {"atlas:AML.CS1", "targeted", "target:chat"}},
		},
		"D3FEND": {
			key: "d3fend", files: map[string]string{"src/ontology/d3fend-protege.ttl": ":File a owl:Class ;\n    rdfs:label \"File\" ;\n    rdfs:subClassOf :Artifact .\n:Artifact a owl:Class ;\n    rdfs:label \"Artifact\" ;\n    rdfs:subClassOf :Core .\n:Scan a owl:Class ;\n    rdfs:label \"Scan\" ;\n    rdfs:subClassOf [ a owl:Restriction ;\n            owl:onProperty :analyzes ;\n            owl:someValuesFrom :File ] ;\n    :d3fend-id \"D3-S\" .\n"},
			want: []edge{{"d3fend:D3-S", "analyzes", "d3fend:File"}, {"d3fend:File", "is_a", "d3fend:Artifact"}},
		},
		"NIST": {
			key: "oscal", files: map[string]string{"nist.gov/SP800-53/rev5/json/x_catalog.json": `{"catalog":{"groups":[{"id":"ac","title":"Access","controls":[{"id":"ac-1","title":"Policy","links":[{"rel":"related","href":"#ac-2"},{"rel":"related","href":"#ac-1_smt"}]},{"id":"ac-2","title":"Accounts"}]}]}}`},
			want: []edge{{"nist:AC-1", "part_of", "nist:AC"}, {"nist:AC-1", "related_to", "nist:AC-2"}},
		},
		"OWASP": {
			key: "owasp_mcp", files: map[string]string{"2025/MCP03-2025–Tool-Poisoning.md": "see CWE-494"},
			want: []edge{{"owasp:MCP03", "part_of", "owasp:MCP"}, {"topic:tool-poisoning", "same_as", "owasp:MCP03"}},
		},
		"AVID": {
			key: "avid", files: map[string]string{"reports/2022/a.json": `{"metadata":{"report_id":"AVID-R1"},"affects":{"developer":["Acme"],"artifacts":[{"name":"Bot"}]},"problemtype":{"classof":"LLM Evaluation","description":{"value":"A failure"}},"references":[{"url":"CVE-2020-12345"}]}`},
			want: []edge{{"avid:AVID-R1", "affects", "vendor:acme"}, {"avid:AVID-R1", "affects", "ai:bot"}, {"avid:AVID-R1", "reports", "cve:CVE-2020-12345"}},
		},
		"CSAF": {key: "cisa_csaf", files: map[string]string{
			"csaf_files/OT/white/2020/a.json": `{"document":{"title":"KUKA advisory","tracking":{"id":"ICSA-1"},"notes":[{"title":"Critical infrastructure sectors","text":"Energy and Water Systems"}]},"product_tree":{"branches":[{"category":"vendor","name":"KUKA"}]},"vulnerabilities":[{"cve":"CVE-2020-1111","scores":[{"cvss_v3":{"baseScore":9.8,"attackVector":"NETWORK"}}]}]}`,
			"csaf_files/OT/white/2020/b.json": `{"document":{"title":"Shop","tracking":{"id":"ICSA-2"}},"product_tree":{"branches":[{"category":"vendor","name":"Webshop Inc"}]}}`,
		}, want: []edge{{"ics:ICSA-1", "affects", "vendor:kuka"}, {"ics:ICSA-1", "reports", "cve:CVE-2020-1111"}, {"cve:CVE-2020-1111", "reachable_by", "vector:network"}, {"ics:ICSA-1", "affects_sector", "sector:water-systems"}}},
		"CLP": {
			key: "clp_annex_vi", files: map[string]string{"backend/data/annex_vi_clp_table_1.xlsx": workbook(t, map[string]string{"xl/sharedStrings.xml": "<sst/>", "xl/worksheets/sheet1.xml": clpSheet})},
			want: []edge{{"cas:26628-22-8", "has_hazard", "h:H300"}, {"cas:26628-22-8", "has_hazard", "h:EUH032"}, {"cas:26628-22-8", "hazard_class", "class:acute-tox-2"}, {"cas:26628-22-8", "pictogram", "ghs:GHS06"}},
		},
		"hazmat": {key: "hmt", files: map[string]string{
			"src/data/hmt-generated.ts": "const X = [\n  {\"idNumber\":\"UN1687\",\"properShippingName\":\"Sodium azide\",\"hazardClass\":\"6.1\",\"packingGroup\":\"II\",\"subsidiaryRisks\":[\"3\"]},\n];",
			"src/data/synonyms.ts":      "UN1687: { synonyms: [\"smite\"], cas: \"26628-22-8\" },",
		}, want: []edge{{"un:UN1687", "transport_class", "dot:6.1"}, {"un:UN1687", "subsidiary_risk", "dot:3"}, {"cas:26628-22-8", "shipped_as", "un:UN1687"}, {"dot:6.1", "is_a", "dot:6"}}},
		"reactive": {key: factsKey, files: map[string]string{"x": "x"}, facts: map[string]string{
			"reactive_groups.tsv": "group\tname\n1\tAcids\n8\tAzides\n18\tIsocyanates\n", "chemical_reactive_group.tsv": "chemical\tname\tgroup\n26628-22-8\tsodium azide\t8\n624-83-9\tmethyl isocyanate\t1\n",
			"reactive_pairs.tsv": "group_a\tgroup_b\tverdict\thazards\tpossible_gases\n1\t8\tincompatible\treaction hazard T\tHN3; London\n1\t18\tcompatible\t\t\n", "ghs_hazard_codes.tsv": "code\tgroup\nH300\tAcute Toxicity\n",
		}, want: []edge{{"pair:1-8", "pair_of", "group:8"}, {"pair:1-8", "evolves", "gas:hn3"}, {"cas:26628-22-8", "in_group", "group:8"}, {"cas:624-83-9", "in_group", "group:1"}}},
		"OBO": {
			key: "obi", files: map[string]string{"views/obi.obo": "[Term]\nid: OBI:1\nname: centrifuge device\nis_a: OBI:2 ! device\n\n[Term]\nid: OBI:2\nname: device\n\n[Term]\nid: CL:1\nname: cell\n\n[Typedef]\nid: x\n"},
			want: []edge{{"obi:1", "is_a", "obi:2"}},
		},
		"SiLA": {
			key: "sila", files: map[string]string{"a/Grip.sila.xml": `<Feature Category="robot" xmlns="http://www.sila-standard.org"><Identifier>Grip</Identifier><DisplayName>Grip</DisplayName><Command><Identifier>HeatPlate</Identifier></Command></Feature>`},
			want: []edge{{"sila:Grip", "capability", "sila:Grip/HeatPlate"}, {"sila:Grip/HeatPlate", "has_verb", "verb:heat"}},
		},
		"VDA 5050": {
			key: "vda5050", files: map[string]string{"json_schemas/order.schema": `{"title":"order","properties":{"orderId":{}}}`},
			want: []edge{{"vda5050:order", "part_of", "vda5050:protocol"}, {"vda5050:order", "has_field", "field:order-id"}},
		},
		"ROS": {
			key: "nav2", files: map[string]string{"nav2_msgs/action/DriveHome.action": "Goal goal # c\n---\nint32 ERR_STUCK=3\n---\n", "nav2_msgs/msg/Goal.msg": "float64 x\n"},
			want: []edge{{"ros:nav2_msgs/DriveHome", "has_field", "ros:nav2_msgs/Goal"}, {"ros:nav2_msgs/DriveHome", "has_verb", "verb:move"}, {"class:mobile-base", "capability", "ros:nav2_msgs/DriveHome"}},
		},
		"robot": {
			key: "ur_desc", files: map[string]string{"config/ur5e/joint_limits.yaml": "joint_limits:\n  elbow:\n    max_position: !degrees 90\n", "urdf/ur5e.urdf": `<joint name="elbow2" type="revolute"><limit lower="-1" upper="${x}"/></joint>`},
			want: []edge{{"robot:ur5e", "has_joint", "joint:ur5e/elbow"}, {"robot:ur5e", "is_a", "family:universal-robots"}, {"family:universal-robots", "is_a", "class:robot-arm"}},
		},
		"robot list": {
			key: "robot_desc", files: map[string]string{"robot_descriptions/_descriptions.py": "    \"panda_description\": Description(\n        tags={\"arm\"},\n        robot=\"Panda\",\n        maker=\"Franka Robotics\",\n    ),\n"},
			want: []edge{{"robot:panda", "made_by", "vendor:franka-robotics"}, {"robot:panda", "is_a", "class:robot-arm"}},
		},
		"PyLabRobot": {key: "pylabrobot", files: map[string]string{
			"pylabrobot/resources/corning/plates.py": "def cor_96_flat(name: str) -> Plate:\n  \"\"\"\n  - brand: Corning\n  - material: Polystyrene\n  \"\"\"\n  return Plate(num_items_x=12, num_items_y=8, max_volume=360)\n",
			"pylabrobot/resources/core.py":           "x = 1\n", "pylabrobot/heating/dev.py": "class Oven(Device):\n  async def heat_plate(self):\n    pass\n",
		}, want: []edge{{"plr:cor_96_flat", "made_of", "plastic:polystyrene"}, {"driver:plr/heating/Oven", "capability", "cap:plr/heat_plate"}, {"cap:plr/heat_plate", "has_verb", "verb:heat"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := inline(t, tc.key, tc.files, tc.facts)
			for _, e := range tc.want {
				if !hasEdge(g, e.from, e.rel, e.to) {
					t.Errorf("%s %s %s is not there", e.from, e.rel, e.to)
				}
			}
			for i := range int32(g.Len()) {
				if strings.Contains(g.NameOf(i), "London") || g.ID(i) == "attack:T9" || g.ID(i) == "ics:ICSA-2" || g.ID(i) == "cl:1" {
					t.Errorf("%s should have been left out", g.ID(i))
				}
			}
		})
	}
}

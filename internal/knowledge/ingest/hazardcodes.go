package ingest

// hazardWords says in our own words what the statements of GHS and CLP are
// about. Their official wording is not carried.
var hazardWords = map[string]string{
	"H200": "unstable explosive", "H201": "explosive, mass explosion", "H202": "explosive, projection", "H203": "explosive, fire and blast",
	"H204": "fire or projection", "H205": "may mass explode in fire", "H206": "fire, blast or projection if dried out", "H207": "fire or projection if dried out", "H208": "fire if dried out",
	"H220": "extremely flammable gas", "H221": "flammable gas", "H222": "extremely flammable aerosol", "H223": "flammable aerosol",
	"H224": "extremely flammable liquid and vapour", "H225": "highly flammable liquid and vapour", "H226": "flammable liquid and vapour", "H228": "flammable solid",
	"H229": "pressurised container, may burst", "H230": "may explode without air", "H231": "may explode without air when hot or pressurised", "H232": "may ignite in air",
	"H240": "may explode when heated", "H241": "may burn or explode when heated", "H242": "may burn when heated",
	"H250": "ignites in air", "H251": "self-heating", "H252": "self-heating in large quantities",
	"H260": "flammable gas with water, may ignite", "H261": "flammable gas with water", "H270": "oxidiser (gas)", "H271": "strong oxidiser, fire or explosion", "H272": "oxidiser",
	"H280": "gas under pressure, may explode if heated", "H281": "refrigerated gas, cryogenic burns", "H290": "corrosive to metals",
	"H300": "fatal if swallowed", "H301": "toxic if swallowed", "H302": "harmful if swallowed", "H303": "may be harmful if swallowed", "H304": "fatal if it enters the airways",
	"H310": "fatal on skin", "H311": "toxic on skin", "H312": "harmful on skin", "H314": "severe skin burns and eye damage", "H315": "skin irritant", "H317": "skin sensitiser",
	"H318": "serious eye damage", "H319": "eye irritant", "H330": "fatal if inhaled", "H331": "toxic if inhaled", "H332": "harmful if inhaled",
	"H334": "respiratory sensitiser", "H335": "irritates the airways", "H336": "drowsiness or dizziness", "H340": "causes genetic defects", "H341": "suspected of genetic defects",
	"H350": "causes cancer", "H351": "suspected of causing cancer", "H360": "harms fertility or the unborn child", "H361": "suspected of harming fertility or the unborn child",
	"H362": "harms breast-fed children", "H370": "damages organs", "H371": "may damage organs", "H372": "damages organs on repeated exposure", "H373": "may damage organs on repeated exposure",
	"H400": "very toxic to water life", "H401": "toxic to water life", "H410": "very toxic to water life, lasting", "H411": "toxic to water life, lasting", "H412": "harmful to water life, lasting", "H413": "may harm water life for long",
	"H420":   "harms the ozone layer",
	"EUH001": "explosive when dry", "EUH006": "explosive with or without air", "EUH014": "reacts violently with water", "EUH018": "may form explosive vapour-air mixture",
	"EUH019": "may form explosive peroxides", "EUH029": "toxic gas with water", "EUH031": "toxic gas with acids", "EUH032": "very toxic gas with acids",
	"EUH044": "explosion risk if heated under confinement", "EUH066": "dries or cracks skin", "EUH070": "toxic by eye contact", "EUH071": "corrosive to the airways",
	"EUH201": "contains lead", "EUH206": "toxic gas (chlorine) with other products", "EUH207": "contains cadmium", "EUH208": "contains a sensitiser",
	"EUH380": "endocrine disruption in humans", "EUH381": "suspected endocrine disruption in humans", "EUH430": "endocrine disruption in the environment", "EUH431": "suspected endocrine disruption in the environment",
	"EUH440": "accumulates in the environment and in people", "EUH441": "strongly accumulates in the environment and in people", "EUH450": "lasting, diffuse contamination of water", "EUH451": "very lasting, diffuse contamination of water",
}

// hazardName names a statement: its code and what it is about.
func hazardName(code, suffix string) string {
	if w := hazardWords[code]; w != "" {
		return code + suffix + " " + w
	}
	return code + suffix
}

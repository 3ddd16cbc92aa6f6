package knowledge

// Relations with a meaning of their own: typed facts are derived along these.
// Sources bring others ("related_to", "mitigates" …) that only retrieval uses.
const (
	RelHazard     = "has_hazard"      // chemical -> hazard statement ("h:H330")
	RelGroup      = "in_group"        // chemical -> reactive group ("group:18")
	RelTrait      = "has_trait"       // chemical -> trait of our own table ("trait:azide")
	RelPair       = "pair_of"         // incompatible or caution pair -> each of its two groups
	RelEvolves    = "evolves"         // pair -> gas that may be given off
	RelReaction   = "reaction_hazard" // pair -> kind of reaction hazard
	RelClass      = "hazard_class"    // hazard statement or substance -> hazard class
	RelPictogram  = "pictogram"       // chemical -> GHS pictogram
	RelCarcinogen = "carcinogen"      // chemical -> IARC group
	RelUN         = "shipped_as"      // chemical -> UN entry
	RelControl    = "needs_control"   // hazard or substance -> control ("control:fume-hood")
	RelMitigates  = "mitigates"       // control -> weakness or technique
	RelIsA        = "is_a"
	RelPartOf     = "part_of"
	RelMadeBy     = "made_by"    // product -> vendor
	RelHasJoint   = "has_joint"  // robot -> joint
	RelFits       = "fits"       // labware, tip -> device or carrier
	RelAffects    = "affects"    // vulnerability, incident -> product
	RelCausedBy   = "caused_by"  // vulnerability, incident -> weakness
	RelInvolves   = "involves"   // incident -> technique, risk
	RelCapability = "capability" // tool word, command -> capability
	RelHas        = "has"        // site -> its devices, zones …
	RelStored     = "stored_in"  // site material -> place
	RelServes     = "serves"     // robot -> place
	RelLocated    = "located_in" // device -> place
	RelUses       = "uses"       // tool -> device, robot
	RelSameAs     = "same_as"    // site thing -> public node
	RelMay        = "may"        // person, agent -> action
	RelApplies    = "applies_to" // rule -> thing it names
	RelRelated    = "related_to"
)

// Kinds that packages rely on.
const (
	KindChemical     = "chemical"
	KindHazard       = "hazard"            // H-statement
	KindGroup        = "reactive_group"    // reactive group
	KindIncompatible = "incompatible_pair" // two groups that must not meet
	KindCaution      = "caution_pair"      // two groups that may react
	KindGas          = "gas"
	KindRobot        = "robot"
	KindDevice       = "device"
	KindJoint        = "joint"
	KindWeakness     = "weakness"
	KindTechnique    = "technique"
	KindIncident     = "incident"
	KindCapability   = "capability"
	KindControl      = "control"
	KindBioAgent     = "bioagent"
	KindLoad         = "load" // goods that are no single substance: medicines, samples, waste
)

// Numeric attributes, in SI units.
const (
	NumFlashPoint     = "flash_point"      // K
	NumAutoignition   = "autoignition"     // K
	NumBoiling        = "boiling_point"    // K
	NumMelting        = "melting_point"    // K
	NumDecomposition  = "decomposition"    // K
	NumLowerExplosive = "lower_explosive"  // fraction by volume
	NumUpperExplosive = "upper_explosive"  // fraction by volume
	NumTWA            = "exposure_twa_ppm" // ppm, 8 h
	NumSTEL           = "exposure_stel_ppm"
	NumCeiling        = "exposure_ceiling_ppm"
	NumTWAMass        = "exposure_twa_mg_m3" // mg/m3, 8 h
	NumSTELMass       = "exposure_stel_mg_m3"
	NumCeilingMass    = "exposure_ceiling_mg_m3"
	NumLower          = "joint_lower"    // rad or m
	NumUpper          = "joint_upper"    // rad or m
	NumVelocity       = "joint_velocity" // rad/s or m/s
	NumEffort         = "joint_effort"   // N m or N
	NumPayload        = "payload"        // kg
	NumReach          = "reach"          // m
	NumVolume         = "volume"         // m3, of one well or the largest drawn
	NumVolumeMin      = "volume_min"     // m3
	NumWells          = "wells"
	NumBiosafety      = "biosafety_level"
	NumCVSS           = "cvss"
)

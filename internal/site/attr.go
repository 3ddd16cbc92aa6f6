package site

// A Shape is a form that the value of an attribute may take.
type Shape uint8

// The shapes. An attribute may allow several.
const (
	ShapeNumber Shape = 1 << iota // 250
	ShapeRange                    // [0.001, 30]
	ShapePlaces                   // {corridor: 800, ward: not allowed}
	ShapeText                     // "closed loop"
	ShapeList                     // [fh1, bench_a]
	ShapeFlag                     // true
)

// A Bound says what a number limits.
type Bound uint8

// The bounds. A range is both whatever its bound.
const (
	BoundNone Bound = iota // a property, no limit
	BoundMax               // at most
	BoundMin               // at least
)

// An AttrSpec is what the registry knows about one attribute name.
type AttrSpec struct {
	Unit   string // of its numbers, "" if it has none
	Axis   string // what it measures, as package quantity names kinds; "" no quantity
	Bound  Bound
	Shapes Shape
}

// Spec returns what the registry knows about an attribute name.
func Spec(name string) (AttrSpec, bool) {
	s, ok := registry[name]
	return s, ok
}

const (
	limit = ShapeNumber | ShapePlaces // of a robot: one value, or one a place
	span  = ShapeRange
	prose = ShapeText | ShapeList
)

// registry holds every attribute a robot or device may carry. A name states
// its unit. A name that is missing here is an error in a profile, so that a
// typo is not a missing limit; what no check reads may stand under extra.
var registry = map[string]AttrSpec{
	// speed and motion
	"max_speed_mm_s":                 {"mm/s", "speed", BoundMax, limit},
	"speed_limit_mm_s":               {"mm/s", "speed", BoundMax, limit},
	"site_speed_limit_mm_s":          {"mm/s", "speed", BoundMax, limit},
	"base_speed_limit_mm_s":          {"mm/s", "speed", BoundMax, limit},
	"collaborative_speed_limit_mm_s": {"mm/s", "speed", BoundMax, limit},
	"fenced_speed_limit_mm_s":        {"mm/s", "speed", BoundMax, limit},
	"speed_limit_near_people_mm_s":   {"mm/s", "speed", BoundMax, limit},
	"speed_limit_hutch_open_mm_s":    {"mm/s", "speed", BoundMax, limit},
	"speed_limit_door_open_mm_s":     {"mm/s", "speed", BoundMax, limit},
	"speed_limit_loaded_mm_s":        {"mm/s", "speed", BoundMax, limit},
	"speed_mm_s":                     {"mm/s", "speed", BoundMax, limit | span},
	"max_speed_m_s":                  {"m/s", "speed", BoundMax, limit},
	"speed_limit_m_s":                {"m/s", "speed", BoundMax, limit},
	"site_speed_limit_m_s":           {"m/s", "speed", BoundMax, limit},
	"max_climb_m_s":                  {"m/s", "speed", BoundMax, limit},
	"max_wind_m_s":                   {"m/s", "speed", BoundMax, limit},
	"site_wind_limit_m_s":            {"m/s", "speed", BoundMax, limit},
	"max_accel_mm_s2":                {"mm/s2", "acceleration", BoundMax, limit},
	"omega_deg_s_max":                {"deg/s", "angular_speed", BoundMax, limit},
	"joint_speed_deg_s_max":          {"deg/s", "angular_speed", BoundMax, limit},
	"kappa_deg":                      {"deg", "angle", BoundNone, span},
	"angle_deg":                      {"deg", "angle", BoundNone, span},
	"tilt_deg_max":                   {"deg", "angle", BoundMax, limit},
	"slope_deg_max":                  {"deg", "angle", BoundMax, limit},
	// mass and force
	"payload_kg":            {"kg", "mass", BoundMax, limit},
	"payload_extended_kg":   {"kg", "mass", BoundMax, limit},
	"arm_lift_kg":           {"kg", "mass", BoundMax, limit},
	"towed_kg_max":          {"kg", "mass", BoundMax, limit},
	"max_takeoff_kg":        {"kg", "mass", BoundMax, limit},
	"max_load_kg":           {"kg", "mass", BoundMax, limit},
	"max_kg":                {"kg", "mass", BoundMax, limit},
	"max_g":                 {"g", "mass", BoundMax, limit},
	"min_g":                 {"g", "mass", BoundMin, limit},
	"imbalance_g_max":       {"g", "mass", BoundMax, limit},
	"grip_n":                {"N", "force", BoundMax, limit | span},
	"grip_force_n":          {"N", "force", BoundMax, limit | span},
	"max_force_n":           {"N", "force", BoundMax, limit},
	"contact_force_limit_n": {"N", "force", BoundMax, limit},
	"max_torque_nm":         {"N m", "energy", BoundMax, limit},
	// length
	"reach_mm":                 {"mm", "length", BoundMax, limit},
	"stroke_mm":                {"mm", "length", BoundMax, limit | span},
	"distance_mm":              {"mm", "length", BoundNone, span},
	"min_distance_detector_mm": {"mm", "length", BoundMin, limit},
	"min_distance_mm":          {"mm", "length", BoundMin, limit},
	"min_distance_m":           {"m", "length", BoundMin, limit},
	"max_height_m":             {"m", "length", BoundMax, limit},
	"max_range_m":              {"m", "length", BoundMax, limit},
	"sash_max_cm":              {"cm", "length", BoundMax, limit},
	// temperature
	"max_c":              {"°C", "temperature", BoundMax, limit},
	"min_c":              {"°C", "temperature", BoundMin, limit},
	"max_plate_c":        {"°C", "temperature", BoundMax, limit},
	"bath_max_c":         {"°C", "temperature", BoundMax, limit},
	"temp_c_max":         {"°C", "temperature", BoundMax, limit},
	"temp_c_min":         {"°C", "temperature", BoundMin, limit},
	"temp_c":             {"°C", "temperature", BoundMax, limit | span},
	"lid_c":              {"°C", "temperature", BoundNone, limit},
	"charge_temp_c":      {"°C", "temperature", BoundNone, span},
	"storage_temp_c":     {"°C", "temperature", BoundNone, limit | span},
	"battery_temp_c_max": {"°C", "temperature", BoundMax, limit},
	"cutout_c":           {"°C", "temperature", BoundMax, limit},
	"cutout_above_set_c": {"K", "temp_delta", BoundNone, limit},
	"temp_k":             {"K", "temperature", BoundNone, span},
	"max_k":              {"K", "temperature", BoundMax, limit},
	"ramp_c_min_max":     {"°C/min", "ramp", BoundMax, limit},
	"ramp_k_h_max":       {"K/h", "ramp", BoundMax, limit},
	// pressure, rotation, flow, volume
	"max_bar":           {"bar", "pressure", BoundMax, limit},
	"max_mbar":          {"mbar", "pressure", BoundMax, limit},
	"min_mbar":          {"mbar", "pressure", BoundMin, limit},
	"pressure_bar":      {"bar", "pressure", BoundMax, limit | span},
	"pressure_mbar":     {"mbar", "pressure", BoundNone, span},
	"rupture_disc_bar":  {"bar", "pressure", BoundMax, limit},
	"relief_bar":        {"bar", "pressure", BoundMax, limit},
	"max_rpm":           {"rpm", "rotation", BoundMax, limit},
	"rpm_max":           {"rpm", "rotation", BoundMax, limit},
	"min_rpm":           {"rpm", "rotation", BoundMin, limit},
	"stir_rpm":          {"rpm", "rotation", BoundNone, span},
	"rpm":               {"rpm", "rotation", BoundNone, span},
	"max_rcf_g":         {"×g", "acceleration", BoundMax, limit},
	"rotor_radius_mm":   {"mm", "length", BoundNone, ShapeNumber},
	"rate_ml_min":       {"mL/min", "flow", BoundNone, span},
	"max_rate_ml_min":   {"mL/min", "flow", BoundMax, limit},
	"flow_ml_min":       {"mL/min", "flow", BoundNone, span},
	"flow_l_min":        {"L/min", "flow", BoundNone, span},
	"flow_sccm":         {"mL/min", "flow", BoundNone, span},
	"volume_ul":         {"µL", "volume", BoundNone, span},
	"volume_ml":         {"mL", "volume", BoundNone, span},
	"max_volume_ml":     {"mL", "volume", BoundMax, limit},
	"max_volume_l":      {"L", "volume", BoundMax, limit},
	"fill_ml":           {"mL", "volume", BoundNone, span},
	"max_fill_fraction": {"1", "fraction", BoundMax, limit},
	"face_velocity_m_s": {"m/s", "speed", BoundNone, ShapeNumber},
	"inflow_m_s":        {"m/s", "speed", BoundNone, ShapeNumber},
	"alarm_below_m_s":   {"m/s", "speed", BoundMin, ShapeNumber},
	// gas, light, beam, electricity
	"co2_pct":                {"%", "fraction", BoundNone, span},
	"o2_pct_min":             {"%", "fraction", BoundMin, ShapeNumber},
	"o2_ppm_max":             {"ppm", "fraction", BoundMax, ShapeNumber},
	"alarm_ppm":              {"ppm", "fraction", BoundMax, limit},
	"humidity_pct":           {"%", "fraction", BoundNone, span},
	"transmission":           {"1", "fraction", BoundNone, span},
	"energy_kev":             {"keV", "energy", BoundNone, span},
	"wavelength_nm":          {"nm", "length", BoundNone, ShapeNumber | span},
	"max_power_mw":           {"mW", "power", BoundMax, limit},
	"power_mw":               {"mW", "power", BoundNone, span},
	"max_power_w":            {"W", "power", BoundMax, limit},
	"power_w":                {"W", "power", BoundNone, span},
	"max_voltage_v":          {"V", "", BoundMax, limit},
	"voltage_v":              {"V", "", BoundNone, span},
	"max_current_a":          {"A", "", BoundMax, limit},
	"current_a":              {"A", "", BoundNone, span},
	"max_dose_rate_usv_h":    {"µSv/h", "", BoundMax, limit},
	"battery_min_pct":        {"%", "fraction", BoundMin, limit},
	"battery_takeoff_pct":    {"%", "fraction", BoundMin, limit},
	"rth_battery_pct":        {"%", "fraction", BoundMin, limit},
	"gripper_cycles_service": {"1", "", BoundMax, ShapeNumber},
	// time
	"hold_min":          {"min", "time", BoundMax, limit},
	"max_min":           {"min", "time", BoundMax, limit},
	"max_h":             {"h", "time", BoundMax, limit},
	"max_s":             {"s", "time", BoundMax, limit},
	"cooldown_min":      {"min", "time", BoundMin, limit},
	"exposure_s":        {"s", "time", BoundNone, span},
	"open_lid_wait_min": {"min", "time", BoundMin, limit},
	// properties in words
	"alarm":          {"", "", BoundNone, prose},
	"balance_rule":   {"", "", BoundNone, prose},
	"calibration":    {"", "", BoundNone, prose},
	"class":          {"", "", BoundNone, prose},
	"cycles":         {"", "", BoundNone, prose},
	"enclosure":      {"", "", BoundNone, prose},
	"firmware":       {"", "", BoundNone, prose},
	"gripper":        {"", "", BoundNone, prose},
	"interlock":      {"", "", BoundNone, prose},
	"limit":          {"", "", BoundNone, prose},
	"lock":           {"", "", BoundNone, prose},
	"max_rate":       {"", "", BoundNone, prose},
	"method_list":    {"", "", BoundNone, prose},
	"pipettes":       {"", "", BoundNone, prose},
	"programs":       {"", "", BoundNone, prose},
	"rating":         {"", "", BoundNone, prose},
	"rotor":          {"", "", BoundNone, prose},
	"safety_circuit": {"", "", BoundNone, prose},
	"sensors":        {"", "", BoundNone, prose},
	"supply":         {"", "", BoundNone, prose},
	"tips":           {"", "", BoundNone, prose},
	"tools":          {"", "", BoundNone, prose},
	"vials":          {"", "", BoundNone, prose},
	"waypoints":      {"", "", BoundNone, prose},
	// yes or no
	"door_interlock":  {"", "", BoundNone, ShapeFlag},
	"lid_interlock":   {"", "", BoundNone, ShapeFlag},
	"sash_sensor":     {"", "", BoundNone, ShapeFlag},
	"light_curtain":   {"", "", BoundNone, ShapeFlag},
	"explosion_proof": {"", "", BoundNone, ShapeFlag},
	"pressure_rated":  {"", "", BoundNone, ShapeFlag},
	"safety_device":   {"", "", BoundNone, ShapeFlag},
	"read_only":       {"", "", BoundNone, ShapeFlag},
	"e_stop":          {"", "", BoundNone, ShapeFlag},
}

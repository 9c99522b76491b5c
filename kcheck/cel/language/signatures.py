"""The declarations that `kcheck.cel.language.declarations` parses: `# library since`, followed by one line per overload."""

STANDARD = """
# standard 0
!_ logical_not (bool) bool
-_ negate_double (double) double
-_ negate_int64 (int) int
_&&_ logical_and (bool, bool) bool
_||_ logical_or (bool, bool) bool
_?_:_ conditional (bool, A, A) A
_==_ equals (A, A) bool
_!=_ not_equals (A, A) bool
_+_ add_bytes (bytes, bytes) bytes
_+_ add_double (double, double) double
_+_ add_duration_duration (duration, duration) duration
_+_ add_duration_timestamp (duration, timestamp) timestamp
_+_ add_timestamp_duration (timestamp, duration) timestamp
_+_ add_int64 (int, int) int
_+_ add_list (list(A), list(A)) list(A)
_+_ add_string (string, string) string
_+_ add_uint64 (uint, uint) uint
_-_ subtract_double (double, double) double
_-_ subtract_duration_duration (duration, duration) duration
_-_ subtract_int64 (int, int) int
_-_ subtract_timestamp_duration (timestamp, duration) timestamp
_-_ subtract_timestamp_timestamp (timestamp, timestamp) duration
_-_ subtract_uint64 (uint, uint) uint
_*_ multiply_double (double, double) double
_*_ multiply_int64 (int, int) int
_*_ multiply_uint64 (uint, uint) uint
_/_ divide_double (double, double) double
_/_ divide_int64 (int, int) int
_/_ divide_uint64 (uint, uint) uint
_%_ modulo_int64 (int, int) int
_%_ modulo_uint64 (uint, uint) uint
_[_] index_list (list(A), int) A
_[_] index_map (map(A, B), A) B
@in in_list (A, list(A)) bool
@in in_map (A, map(A, B)) bool
@not_strictly_false not_strictly_false (bool) bool
bool bool_to_bool (bool) bool
bool string_to_bool (string) bool
bytes bytes_to_bytes (bytes) bytes
bytes string_to_bytes (string) bytes
double double_to_double (double) double
double int64_to_double (int) double
double string_to_double (string) double
double uint64_to_double (uint) double
duration duration_to_duration (duration) duration
duration int64_to_duration (int) duration
duration string_to_duration (string) duration
dyn to_dyn (A) dyn
int int64_to_int64 (int) int
int double_to_int64 (double) int
int duration_to_int64 (duration) int
int string_to_int64 (string) int
int timestamp_to_int64 (timestamp) int
int uint64_to_int64 (uint) int
string string_to_string (string) string
string bool_to_string (bool) string
string bytes_to_string (bytes) string
string double_to_string (double) string
string duration_to_string (duration) string
string int64_to_string (int) string
string timestamp_to_string (timestamp) string
string uint64_to_string (uint) string
timestamp timestamp_to_timestamp (timestamp) timestamp
timestamp int64_to_timestamp (int) timestamp
timestamp string_to_timestamp (string) timestamp
type type (A) type(A)
uint uint64_to_uint64 (uint) uint
uint double_to_uint64 (double) uint
uint int64_to_uint64 (int) uint
uint string_to_uint64 (string) uint
size size_bytes (bytes) int
size bytes_size bytes.() int
size size_list (list(A)) int
size list_size list(A).() int
size size_map (map(A, B)) int
size map_size map(A, B).() int
size size_string (string) int
size string_size string.() int
contains contains_string string.(string) bool
endsWith ends_with_string string.(string) bool
startsWith starts_with_string string.(string) bool
matches matches (string, string) bool
matches matches_string string.(string) bool
# times 0
getDate timestamp_to_day_of_month_1_based timestamp.() int
getDate timestamp_to_day_of_month_1_based_with_tz timestamp.(string) int
getDayOfMonth timestamp_to_day_of_month timestamp.() int
getDayOfMonth timestamp_to_day_of_month_with_tz timestamp.(string) int
getDayOfWeek timestamp_to_day_of_week timestamp.() int
getDayOfWeek timestamp_to_day_of_week_with_tz timestamp.(string) int
getDayOfYear timestamp_to_day_of_year timestamp.() int
getDayOfYear timestamp_to_day_of_year_with_tz timestamp.(string) int
getFullYear timestamp_to_year timestamp.() int
getFullYear timestamp_to_year_with_tz timestamp.(string) int
getHours timestamp_to_hours timestamp.() int
getHours timestamp_to_hours_with_tz timestamp.(string) int
getHours duration_to_hours duration.() int
getMilliseconds timestamp_to_milliseconds timestamp.() int
getMilliseconds timestamp_to_milliseconds_with_tz timestamp.(string) int
getMilliseconds duration_to_milliseconds duration.() int
getMinutes timestamp_to_minutes timestamp.() int
getMinutes timestamp_to_minutes_with_tz timestamp.(string) int
getMinutes duration_to_minutes duration.() int
getMonth timestamp_to_month timestamp.() int
getMonth timestamp_to_month_with_tz timestamp.(string) int
getSeconds timestamp_to_seconds timestamp.() int
getSeconds timestamp_to_seconds_tz timestamp.(string) int
getSeconds duration_to_seconds duration.() int
"""

TEXTS = """
# strings 0
charAt string_char_at_int string.(int) string
indexOf string_index_of_string string.(string) int
indexOf string_index_of_string_int string.(string, int) int
lastIndexOf string_last_index_of_string string.(string) int
lastIndexOf string_last_index_of_string_int string.(string, int) int
lowerAscii string_lower_ascii string.() string
upperAscii string_upper_ascii string.() string
replace string_replace_string_string string.(string, string) string
replace string_replace_string_string_int string.(string, string, int) string
split string_split_string string.(string) list(string)
split string_split_string_int string.(string, int) list(string)
substring string_substring_int string.(int) string
substring string_substring_int_int string.(int, int) string
trim string_trim string.() string
join list_join list(string).() string
join list_join_string list(string).(string) string
# strings 29
strings.quote strings_quote (string) string
# formatting 29
format string_format string.(list(dyn)) string
# regexes 0
find string_find_string string.(string) string
findAll string_find_all_string string.(string) list(string)
findAll string_find_all_string_int string.(string, int) list(string)
# urls 0
isURL is_url_string (string) bool
url string_to_url (string) kubernetes.URL
getEscapedPath url_get_escaped_path kubernetes.URL.() string
getHost url_get_host kubernetes.URL.() string
getHostname url_get_hostname kubernetes.URL.() string
getPort url_get_port kubernetes.URL.() string
getQuery url_get_query kubernetes.URL.() map(string, list(string))
getScheme url_get_scheme kubernetes.URL.() string
"""

COLLECTIONS = """
# lists 0
indexOf list_a_index_of_int list(A).(A) int
lastIndexOf list_a_last_index_of_int list(A).(A) int
# optionals 28
_?._ select_optional_field (dyn, string) optional(V)
_[?_] list_optindex_optional_int (list(V), int) optional(V)
_[?_] optional_list_optindex_optional_int (optional(list(V)), int) optional(V)
_[?_] map_optindex_optional_value (map(K, V), K) optional(V)
_[?_] optional_map_optindex_optional_value (optional(map(K, V)), K) optional(V)
_[_] optional_list_index_int (optional(list(V)), int) optional(V)
_[_] optional_map_index_value (optional(map(K, V)), K) optional(V)
first list_first list(V).() optional(V)
last list_last list(V).() optional(V)
hasValue optional_hasValue optional(V).() bool
optional.none optional_none () optional(V)
optional.of optional_of (V) optional(V)
optional.ofNonZeroValue optional_ofNonZeroValue (V) optional(V)
optional.unwrap optional_unwrap (list(optional(V))) list(V)
or optional_or_optional optional(V).(optional(V)) optional(V)
orValue optional_orValue_value optional(V).(V) V
unwrapOpt optional_unwrapOpt list(optional(V)).() list(V)
value optional_value optional(V).() V
# sets 29
sets.contains list_sets_contains_list (list(T), list(T)) bool
sets.equivalent list_sets_equivalent_list (list(T), list(T)) bool
sets.intersects list_sets_intersects_list (list(T), list(T)) bool
# comprehensions 32
cel.@mapInsert @mapInsert_map_key_value (map(K, V), K, V) map(K, V)
cel.@mapInsert @mapInsert_map_map (map(K, V), map(K, V)) map(K, V)
# lists 34
distinct list_distinct list(T).() list(T)
flatten list_flatten list(list(T)).() list(T)
flatten list_flatten_int list(dyn).(int) list(dyn)
lists.range lists_range (int) list(int)
reverse list_reverse list(T).() list(T)
slice list_slice list(T).(int, int) list(T)
"""

ORDERED = """
lists 0 int,uint,double,bool,duration,timestamp,string,bytes isSorted list_~_is_sorted_bool list(~).() bool
lists 0 int,uint,double,bool,duration,timestamp,string,bytes max list_~_max_~ list(~).() ~
lists 0 int,uint,double,bool,duration,timestamp,string,bytes min list_~_min_~ list(~).() ~
lists 0 int,uint,double,duration sum list_~_sum_~ list(~).() ~
lists 34 int,uint,double,bool,duration,timestamp,string,bytes sort list_~_sort list(~).() list(~)
lists 34 int,uint,double,bool,duration,timestamp,string,bytes @sortByAssociatedKeys list_~_sortByAssociatedKeys list(T).(list(~)) list(T)
"""

KUBERNETES = """
# authorization 27
allowed decision_allowed kubernetes.authorization.Decision.() bool
check pathcheck_check kubernetes.authorization.PathCheck.(string) kubernetes.authorization.Decision
check resourcecheck_check kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.Decision
error decision_error kubernetes.authorization.Decision.() string
errored decision_errored kubernetes.authorization.Decision.() bool
group authorizer_group kubernetes.authorization.Authorizer.(string) kubernetes.authorization.GroupCheck
name resourcecheck_name kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
namespace resourcecheck_namespace kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
path authorizer_path kubernetes.authorization.Authorizer.(string) kubernetes.authorization.PathCheck
reason decision_reason kubernetes.authorization.Decision.() string
resource groupcheck_resource kubernetes.authorization.GroupCheck.(string) kubernetes.authorization.ResourceCheck
serviceAccount authorizer_serviceaccount kubernetes.authorization.Authorizer.(string, string) kubernetes.authorization.Authorizer
subresource resourcecheck_subresource kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
# authorization 31
fieldSelector authorizer_fieldselector kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
labelSelector authorizer_labelselector kubernetes.authorization.ResourceCheck.(string) kubernetes.authorization.ResourceCheck
# quantities 28
add quantity_add kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity
add quantity_add_int kubernetes.Quantity.(int) kubernetes.Quantity
asApproximateFloat quantity_get_float kubernetes.Quantity.() double
asInteger quantity_get_int kubernetes.Quantity.() int
compareTo quantity_compare_to kubernetes.Quantity.(kubernetes.Quantity) int
isGreaterThan quantity_is_greater_than kubernetes.Quantity.(kubernetes.Quantity) bool
isInteger quantity_is_integer kubernetes.Quantity.() bool
isLessThan quantity_is_less_than kubernetes.Quantity.(kubernetes.Quantity) bool
isQuantity is_quantity_string (string) bool
quantity string_to_quantity (string) kubernetes.Quantity
sign quantity_sign (kubernetes.Quantity) int
sub quantity_sub kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity
sub quantity_sub_int kubernetes.Quantity.(int) kubernetes.Quantity
# addresses 30
cidr string_to_cidr (string) net.CIDR
containsCIDR cidr_contains_cidr_string net.CIDR.(string) bool
containsCIDR cidr_contains_cidr net.CIDR.(net.CIDR) bool
containsIP cidr_contains_ip_string net.CIDR.(string) bool
containsIP cidr_contains_ip_ip net.CIDR.(net.IP) bool
family ip_family net.IP.() int
ip string_to_ip (string) net.IP
ip cidr_ip net.CIDR.() net.IP
ip.isCanonical ip_is_canonical (string) bool
isCIDR is_cidr (string) bool
isGlobalUnicast ip_is_global_unicast net.IP.() bool
isIP is_ip (string) bool
isLinkLocalMulticast ip_is_link_local_multicast net.IP.() bool
isLinkLocalUnicast ip_is_link_local_unicast net.IP.() bool
isLoopback ip_is_loopback net.IP.() bool
isUnspecified ip_is_unspecified net.IP.() bool
masked cidr_masked net.CIDR.() net.CIDR
prefixLength cidr_prefix_length net.CIDR.() int
string ip_to_string (net.IP) string
string cidr_to_string (net.CIDR) string
# formats 31
format.named format-named (string) optional(kubernetes.NamedFormat)
format.byte format.byte () kubernetes.NamedFormat
format.date format.date () kubernetes.NamedFormat
format.datetime format.datetime () kubernetes.NamedFormat
format.dns1035Label format.dns1035Label () kubernetes.NamedFormat
format.dns1035LabelPrefix format.dns1035LabelPrefix () kubernetes.NamedFormat
format.dns1123Label format.dns1123Label () kubernetes.NamedFormat
format.dns1123LabelPrefix format.dns1123LabelPrefix () kubernetes.NamedFormat
format.dns1123Subdomain format.dns1123Subdomain () kubernetes.NamedFormat
format.dns1123SubdomainPrefix format.dns1123SubdomainPrefix () kubernetes.NamedFormat
format.labelValue format.labelValue () kubernetes.NamedFormat
format.qualifiedName format.qualifiedName () kubernetes.NamedFormat
format.uri format.uri () kubernetes.NamedFormat
format.uuid format.uuid () kubernetes.NamedFormat
validate format-validate kubernetes.NamedFormat.(string) optional(list(string))
# semvers 33
compareTo semver_compare_to kubernetes.Semver.(kubernetes.Semver) int
isGreaterThan semver_is_greater_than kubernetes.Semver.(kubernetes.Semver) bool
isLessThan semver_is_less_than kubernetes.Semver.(kubernetes.Semver) bool
isSemver is_semver_string (string) bool
isSemver is_semver_string_bool (string, bool) bool
major semver_major kubernetes.Semver.() int
minor semver_minor kubernetes.Semver.() int
patch semver_patch kubernetes.Semver.() int
semver string_to_semver (string) kubernetes.Semver
semver string_bool_to_semver (string, bool) kubernetes.Semver
# jsonpatch 32
jsonpatch.escapeKey jsonpatch_escapekey_string (string) string
"""

//! The values of the scheme and of all parameters on one connection, and the snapshot of them that
//! a key is derived with.
//!
//! Each value exists twice: the default lasts, the current one is spent when a cipher is made.
//! Which schema name in a PRAGMA reaches which of the two is known in `pager`.

use std::collections::BTreeMap;
use std::fmt;

use super::params::{ParamError, ParamSpec, ParamValue};
use super::scheme::{DEFAULT_SCHEME, Scheme};

/// Which of the two values is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The one that lasts: a PRAGMA without a schema name, or with `main`.
    Default,
    /// The one for the next key: a PRAGMA with `temp` or the name of an attached database.
    Current,
}

/// Which of the two values is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Default and current: a PRAGMA without a schema name, or with `main`.
    Both,
    /// Only the current one: a PRAGMA with `temp` or the name of an attached database.
    Current,
}

impl Reach {
    /// The level at which a PRAGMA of this reach answers.
    fn level(self) -> Level {
        match self {
            Reach::Both => Level::Default,
            Reach::Current => Level::Current,
        }
    }
}

/// All encryption settings of one connection.
#[derive(Debug)]
pub struct Settings {
    scheme: TwoValues<&'static Scheme>,
    hmac_check: TwoValues<bool>,
    mc_legacy_wal: TwoValues<bool>,
    /// Parameters that were set, by scheme and name; the others have the value of their table.
    params: BTreeMap<(&'static str, &'static str), TwoValues<u32>>,
}

impl Settings {
    /// The settings of a new connection.
    pub fn new() -> Settings {
        Settings {
            scheme: TwoValues::both(DEFAULT_SCHEME),
            hmac_check: TwoValues::both(true),
            mc_legacy_wal: TwoValues::both(false),
            params: BTreeMap::new(),
        }
    }

    /// The selected scheme.
    pub fn scheme(&self, level: Level) -> &'static Scheme {
        self.scheme.at(level)
    }

    /// The settings of a new connection that has selected this scheme.
    pub fn for_scheme(scheme: &'static Scheme) -> Settings {
        let mut settings = Settings::new();
        settings.set_scheme(Reach::Both, scheme);
        settings
    }

    /// Selects a scheme.
    pub fn set_scheme(&mut self, reach: Reach, scheme: &'static Scheme) {
        self.scheme.set(reach, scheme);
    }

    /// The value of a parameter, named in any ASCII case. `None`: the scheme has no such parameter.
    pub fn param(&self, scheme: &'static Scheme, name: &str, level: Level) -> Option<ParamValue> {
        let spec = scheme.param(name)?;
        Some(spec.show(self.values(scheme, spec).at(level)))
    }

    /// Sets a parameter from a PRAGMA's text and answers the value then in force, which is the old
    /// one when the text is out of range. `Ok(None)`: the scheme has no such parameter.
    pub fn set_param_text(
        &mut self,
        reach: Reach,
        scheme: &'static Scheme,
        name: &str,
        text: &str,
    ) -> Result<Option<String>, ParamError> {
        let Some(spec) = scheme.param(name) else {
            return Ok(None);
        };
        if let Some(value) = spec.parse(text)? {
            self.set_with_presets(reach, scheme, spec, value);
        }
        let in_force = self.values(scheme, spec).at(reach.level());
        Ok(Some(spec.show(in_force).to_string()))
    }

    /// The number behind a parameter's value.
    pub fn param_number(&self, scheme: &'static Scheme, spec: &ParamSpec, level: Level) -> u32 {
        self.values(scheme, spec).at(level)
    }

    /// Sets a parameter to a number in its range. False: it is out of range.
    ///
    /// Compat: the conditions beside the range, which a PRAGMA checks, do not count here
    /// (__test__/encryption/functions.test.js).
    pub fn set_param_number(
        &mut self,
        reach: Reach,
        scheme: &'static Scheme,
        spec: &ParamSpec,
        value: i32,
    ) -> bool {
        let value = u32::try_from(value).ok();
        let Some(value) = value.filter(|value| (spec.min..=spec.max).contains(value)) else {
            return false;
        };
        self.set_with_presets(reach, scheme, spec, value);
        true
    }

    /// Whether the next cipher checks tags.
    pub fn hmac_check(&self) -> bool {
        self.hmac_check.current
    }

    /// Has the next cipher, and only that, check tags or not.
    pub fn set_hmac_check(&mut self, on: bool) {
        self.hmac_check.set(Reach::Current, on);
    }

    /// Whether the next key asks for the WAL checksums of old versions.
    pub fn mc_legacy_wal(&self, level: Level) -> bool {
        self.mc_legacy_wal.at(level)
    }

    /// Asks, for the next key only or from now on, for the WAL checksums of old versions.
    pub fn set_mc_legacy_wal(&mut self, reach: Reach, on: bool) {
        self.mc_legacy_wal.set(reach, on);
    }

    /// The current values, for one cipher; afterwards the defaults are current again.
    pub fn take(&mut self) -> CipherConfig {
        let config = self.config();
        self.scheme.spend();
        self.hmac_check.spend();
        self.mc_legacy_wal.spend();
        self.spend_params(config.scheme);
        config
    }

    /// The current values, which stay current.
    pub fn config(&self) -> CipherConfig {
        let scheme = self.scheme.current;
        CipherConfig {
            scheme,
            hmac_check: self.hmac_check.current,
            mc_legacy_wal: self.mc_legacy_wal.current,
            values: scheme
                .params
                .iter()
                .map(|spec| self.values(scheme, spec).current)
                .collect(),
        }
    }

    /// Makes the defaults of one scheme's parameters current again. For a cipher that is copied
    /// and not derived (ATTACH without KEY, VACUUM), which spends these and nothing else.
    pub fn spend_params(&mut self, scheme: &'static Scheme) {
        for ((owner, _), values) in &mut self.params {
            if *owner == scheme.name {
                values.spend();
            }
        }
    }

    fn values(&self, scheme: &Scheme, spec: &ParamSpec) -> TwoValues<u32> {
        let set = self.params.get(&(scheme.name, spec.name)).copied();
        set.unwrap_or(TwoValues::both(spec.default))
    }

    fn set_with_presets(
        &mut self,
        reach: Reach,
        scheme: &'static Scheme,
        spec: &ParamSpec,
        value: u32,
    ) {
        self.set_param(reach, scheme, spec, value);
        let presets = spec.presets.iter().filter(|preset| preset.value == value);
        for (name, value) in presets.flat_map(|preset| preset.sets) {
            let spec = scheme.param(name).expect("presets name their own scheme");
            self.set_param(reach, scheme, spec, *value);
        }
    }

    fn set_param(&mut self, reach: Reach, scheme: &Scheme, spec: &ParamSpec, value: u32) {
        let mut values = self.values(scheme, spec);
        values.set(reach, value);
        self.params.insert((scheme.name, spec.name), values);
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new()
    }
}

/// What one cipher is made with: a scheme and the values of its parameters.
#[derive(Debug, Clone)]
pub struct CipherConfig {
    scheme: &'static Scheme,
    hmac_check: bool,
    mc_legacy_wal: bool,
    /// In the order of the scheme's table.
    values: Vec<u32>,
}

impl CipherConfig {
    /// The scheme.
    pub fn scheme(&self) -> &'static Scheme {
        self.scheme
    }

    /// Whether tags are checked.
    pub fn hmac_check(&self) -> bool {
        self.hmac_check
    }

    /// Whether the WAL checksums of old versions were asked for.
    pub fn mc_legacy_wal(&self) -> bool {
        self.mc_legacy_wal
    }

    /// The values of all parameters, in the order of the scheme's table.
    pub fn values(&self) -> &[u32] {
        &self.values
    }

    /// The value of a parameter; 0 when the scheme has no such parameter.
    pub fn value(&self, name: &str) -> u32 {
        let at = self.scheme.params.iter().position(|spec| spec.name == name);
        at.map_or(0, |at| self.values[at])
    }
}

/// As the PRAGMAs that set it.
impl fmt::Display for CipherConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cipher={}", self.scheme.name)?;
        for (spec, value) in self.scheme.params.iter().zip(&self.values) {
            write!(f, ", {}={}", spec.name, spec.show(*value))?;
        }
        Ok(())
    }
}

/// A value that lasts and one that is spent.
#[derive(Debug, Clone, Copy)]
struct TwoValues<T> {
    default: T,
    current: T,
}

impl<T: Copy> TwoValues<T> {
    fn both(value: T) -> TwoValues<T> {
        TwoValues {
            default: value,
            current: value,
        }
    }

    fn at(self, level: Level) -> T {
        match level {
            Level::Default => self.default,
            Level::Current => self.current,
        }
    }

    fn set(&mut self, reach: Reach, value: T) {
        self.current = value;
        if reach == Reach::Both {
            self.default = value;
        }
    }

    fn spend(&mut self) -> T {
        std::mem::replace(&mut self.current, self.default)
    }
}

#[cfg(test)]
mod tests {
    use super::super::find_scheme;
    use super::*;

    fn scheme(name: &str) -> &'static Scheme {
        find_scheme(name).unwrap()
    }

    fn set(settings: &mut Settings, reach: Reach, name: &str, text: &str) -> String {
        let chacha20 = scheme("chacha20");
        settings
            .set_param_text(reach, chacha20, name, text)
            .unwrap()
            .unwrap()
    }

    fn shown(settings: &Settings, name: &str, level: Level) -> String {
        settings
            .param(scheme("chacha20"), name, level)
            .unwrap()
            .to_string()
    }

    #[test]
    fn an_unqualified_value_lasts_and_a_temp_value_is_spent() {
        let mut settings = Settings::new();
        assert_eq!(set(&mut settings, Reach::Both, "kdf_iter", "4000"), "4000");
        assert_eq!(
            set(&mut settings, Reach::Current, "KDF_ITER", "5000"),
            "5000"
        );
        assert_eq!(shown(&settings, "kdf_iter", Level::Default), "4000");
        assert_eq!(shown(&settings, "kdf_iter", Level::Current), "5000");
        assert_eq!(settings.take().value("kdf_iter"), 5000);
        assert_eq!(settings.take().value("kdf_iter"), 4000);
    }

    #[test]
    fn a_value_out_of_range_answers_the_old_one_at_the_pragmas_level() {
        let mut settings = Settings::new();
        set(&mut settings, Reach::Current, "kdf_iter", "5000");
        for text in ["0", "-5", "0x"] {
            assert_eq!(set(&mut settings, Reach::Both, "kdf_iter", text), "64007");
            assert_eq!(set(&mut settings, Reach::Current, "kdf_iter", text), "5000");
        }
        assert_eq!(set(&mut settings, Reach::Both, "legacy", "2"), "0");
        assert_eq!(
            set(&mut settings, Reach::Both, "legacy_page_size", "1000"),
            "4096"
        );
        assert_eq!(
            set(&mut settings, Reach::Both, "plaintext_header_size", "101"),
            "0"
        );
    }

    #[test]
    fn a_parameter_of_another_scheme_is_unknown() {
        let mut settings = Settings::new();
        let chacha20 = scheme("chacha20");
        assert_eq!(
            settings.set_param_text(Reach::Both, chacha20, "hmac_use", "x"),
            Ok(None)
        );
        assert_eq!(settings.param(chacha20, "hmac_use", Level::Default), None);
    }

    #[test]
    fn taking_spends_scheme_flags_and_the_parameters_of_that_scheme_only() {
        let mut settings = Settings::new();
        set(&mut settings, Reach::Current, "kdf_iter", "77");
        settings.set_scheme(Reach::Current, scheme("aes256cbc"));
        settings.set_hmac_check(false);
        settings.set_mc_legacy_wal(Reach::Current, true);
        let config = settings.take();
        assert_eq!(config.scheme().name, "aes256cbc");
        assert_eq!(config.value("kdf_iter"), 4001);
        assert!(!config.hmac_check() && config.mc_legacy_wal());
        assert!(settings.hmac_check() && !settings.mc_legacy_wal(Level::Current));
        assert_eq!(settings.scheme(Level::Current).name, "chacha20");
        assert_eq!(settings.take().value("kdf_iter"), 77);
    }

    #[test]
    fn a_preset_moves_other_parameters_with_the_same_reach() {
        use super::super::params::Preset;
        static PARAMS: [ParamSpec; 2] = [
            ParamSpec::integer("legacy", 0, 0, 1).presetting(&[Preset {
                value: 1,
                sets: &[("kdf_iter", 4000)],
            }]),
            ParamSpec::rounds("kdf_iter", 256000),
        ];
        static MOVING: Scheme = Scheme {
            name: "moving",
            params: &PARAMS,
            ..*DEFAULT_SCHEME
        };
        let mut settings = Settings::new();
        let value = |settings: &Settings, level| {
            settings
                .param(&MOVING, "kdf_iter", level)
                .unwrap()
                .to_string()
        };
        settings
            .set_param_text(Reach::Current, &MOVING, "legacy", "1")
            .unwrap();
        assert_eq!(value(&settings, Level::Current), "4000");
        assert_eq!(value(&settings, Level::Default), "256000");
        settings
            .set_param_text(Reach::Both, &MOVING, "legacy", "0")
            .unwrap();
        assert_eq!(value(&settings, Level::Current), "4000");
        settings
            .set_param_text(Reach::Both, &MOVING, "legacy", "1")
            .unwrap();
        assert_eq!(value(&settings, Level::Default), "4000");
    }
}

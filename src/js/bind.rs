//! The arguments of a call become the parameters of a statement.
//!
//! Two steps: [`collect`] asks JavaScript for everything (getters and proxies may run there, and
//! may close the database), [`Arguments::bind`] then binds without running any JavaScript. Between
//! the two the caller checks again whether the statement may be used.

use super::node_api::{Env, Kind, Value};
use super::value::Argument;
use crate::error::{Error, Result};
use crate::sqlite::kept::OwnedValue;
use crate::sqlite::step::RawStatement;

/// The parameters of a statement, as it was compiled.
pub(crate) struct Parameters {
    /// For each parameter its name without the prefix, or None for `?`.
    names: Box<[Option<Box<[u8]>>]>,
    has_names: bool,
}

/// For each parameter its value, complete and of the right types.
pub(crate) struct Arguments<'e> {
    values: Vec<Argument<'e>>,
}

const NOT_PLAIN: &str = "Named parameters can only be passed within plain objects";
const TWO_OBJECTS: &str = "You cannot specify named parameters in two different objects";
const NO_OBJECT: &str = "Missing named parameters";
const TOO_FEW: &str = "Too few parameter values were provided";
const TOO_MANY: &str = "Too many parameter values were provided";

impl Parameters {
    pub(crate) fn of(raw: &RawStatement) -> Self {
        let name = |index| {
            raw.parameter_name(index)
                .map(|name| name.to_bytes()[1..].into())
        };
        let names: Box<[Option<Box<[u8]>>]> = (1..=raw.parameter_count()).map(name).collect();
        let has_names = names.iter().any(Option::is_some);
        Self { names, has_names }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// Takes the values of all parameters from `arguments`; may run JavaScript.
pub(crate) fn collect<'e>(
    env: Env<'e>,
    parameters: &Parameters,
    arguments: &[Value<'e>],
) -> Result<Arguments<'e>> {
    let mut collector = Collector {
        env,
        parameters,
        values: vec![None; parameters.names.len()],
        next_anonymous: 0,
        has_object: false,
    };
    for &argument in arguments {
        collector.add_argument(argument)?;
    }
    collector.finish()
}

impl Arguments<'_> {
    /// Binds all of them; on an error nothing stays bound.
    pub(crate) fn bind(&self, env: Env<'_>, raw: &mut RawStatement) -> Result<()> {
        let mut text = Vec::new();
        let mut bind_all = || {
            for (at, value) in self.values.iter().enumerate() {
                value.bind(env, raw, at + 1, &mut text)?;
            }
            Ok(())
        };
        bind_all().inspect_err(|_| raw.clear_bindings())
    }

    /// Copies of all of them.
    pub(crate) fn to_owned(&self, env: Env<'_>) -> Result<Vec<OwnedValue>> {
        let mut text = Vec::new();
        let copy = |value: &Argument<'_>| value.give(env, &mut text, |bound| bound.into());
        self.values.iter().map(copy).collect()
    }
}

struct Collector<'e, 'p> {
    env: Env<'e>,
    parameters: &'p Parameters,
    values: Vec<Option<Argument<'e>>>,
    /// Where to look for the next parameter without a name.
    next_anonymous: usize,
    has_object: bool,
}

impl<'e> Collector<'e, '_> {
    fn add_argument(&mut self, argument: Value<'e>) -> Result<()> {
        match self.env.kind(argument)? {
            Kind::Object => self.add_object(argument),
            Kind::Function if self.parameters.has_names => Err(Error::of_type(NOT_PLAIN)),
            kind => self.add_typed(argument, kind),
        }
    }

    fn add_object(&mut self, object: Value<'e>) -> Result<()> {
        if self.env.is_array(object)? {
            return self.add_array(object);
        }
        if self.env.with_bytes(object, |_| ())?.is_some() {
            return self.add_anonymous(object);
        }
        if is_plain(self.env, object)? {
            return self.add_named(object);
        }
        if self.parameters.has_names {
            Err(Error::of_type(NOT_PLAIN))
        } else {
            self.add_anonymous(object)
        }
    }

    fn add_array(&mut self, array: Value<'e>) -> Result<()> {
        for index in 0..self.env.array_len(array)? {
            let element = self.env.element(array, index)?;
            self.add_anonymous(element)?;
        }
        Ok(())
    }

    fn add_anonymous(&mut self, value: Value<'e>) -> Result<()> {
        self.add_typed(value, self.env.kind(value)?)
    }

    fn add_typed(&mut self, value: Value<'e>, kind: Kind) -> Result<()> {
        let value = Argument::of_kind(self.env, value, kind)?;
        let names = &self.parameters.names;
        let found = names
            .iter()
            .skip(self.next_anonymous)
            .position(Option::is_none);
        let at = self.next_anonymous + found.ok_or_else(|| Error::of_range(TOO_MANY))?;
        self.values[at] = Some(value);
        self.next_anonymous = at + 1;
        Ok(())
    }

    fn add_named(&mut self, object: Value<'e>) -> Result<()> {
        if std::mem::replace(&mut self.has_object, true) {
            return Err(Error::of_type(TWO_OBJECTS));
        }
        for (at, name) in self.parameters.names.iter().enumerate() {
            let Some(name) = name else { continue };
            let key = self.env.string(name)?;
            if !self.env.has_own(object, key)? {
                let name = String::from_utf8_lossy(name);
                return Err(Error::of_range(format!(
                    "Missing named parameter \"{name}\""
                )));
            }
            let value = self.env.property(object, key)?;
            self.values[at] = Some(Argument::from_js(self.env, value)?);
        }
        Ok(())
    }

    fn finish(self) -> Result<Arguments<'e>> {
        let missing = if self.parameters.has_names && !self.has_object {
            || Error::of_type(NO_OBJECT)
        } else {
            || Error::of_range(TOO_FEW)
        };
        let values: Option<Vec<_>> = self.values.into_iter().collect();
        Ok(Arguments {
            values: values.ok_or_else(missing)?,
        })
    }
}

/// Whether the prototype is null or has none itself, so that objects of any realm qualify.
fn is_plain(env: Env<'_>, object: Value<'_>) -> Result<bool> {
    let prototype = env.prototype(object)?;
    match env.kind(prototype)? {
        Kind::Null => Ok(true),
        Kind::Object => Ok(env.kind(env.prototype(prototype)?)? == Kind::Null),
        _ => Ok(false),
    }
}

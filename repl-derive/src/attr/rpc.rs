//! Options of calls: the content of `#[rpc(…)]` on a function, and of `#[rpcs(…)]` on the block around it.
//!
//! *Invariant:* each option fills its slot at most once. The rules for combinations are in `rpcs::check`.

use proc_macro2::{Span, TokenStream};
use syn::{Attribute, LitStr, Path};

use super::argument::{Argument, At, Flag, apply_all, arguments, each, mark};
use super::number::Number;
use super::place::{BLOCK, CALL, FIELD};
use crate::error::Errors;

/// Where a call runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Server,
    Client,
    Multicast,
}

pub(crate) struct RpcAttrs {
    /// The span of `rpc`.
    pub(crate) span: Span,
    /// Whether an option could not be read.
    pub(crate) faulty: bool,
    pub(crate) kinds: Kinds,
    pub(crate) reliable: Flag,
    pub(crate) unreliable: Flag,
    pub(crate) validate: Option<At<Path>>,
    pub(crate) per_second: Option<At<Number>>,
    pub(crate) waits: Flag,
    pub(crate) name: Option<At<LitStr>>,
}

/// The kinds (`server`, `client`, `multicast`) that the attribute of a call names. A correct call has exactly
/// one kind.
#[derive(Default)]
pub(crate) struct Kinds {
    server: Flag,
    client: Flag,
    multicast: Flag,
}

#[derive(Default)]
pub(crate) struct RpcsAttrs {
    pub(crate) krate: Option<At<Path>>,
}

impl Kind {
    /// Returns the name of the type through which functions of this kind access their object.
    pub(crate) fn call_type(self) -> &'static str {
        match self {
            Self::Server => "ServerCall",
            Self::Client => "ClientCall",
            Self::Multicast => "MulticastCall",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Multicast => "multicast",
        }
    }
}

impl Kinds {
    /// Returns the kinds in a fixed order, each with the span of its name.
    pub(crate) fn given(&self) -> Vec<(Kind, Span)> {
        let slots =
            [(Kind::Server, &self.server), (Kind::Client, &self.client), (Kind::Multicast, &self.multicast)];
        slots.into_iter().filter_map(|(kind, slot)| Some((kind, slot.as_ref()?.span))).collect()
    }
}

impl RpcAttrs {
    /// Reads the options of a function. Returns `None` if the function is not a call.
    pub(crate) fn parse(attributes: &[Attribute], errors: &mut Errors) -> Option<Self> {
        let mut attrs = Self {
            span: mark(attributes, &CALL)?,
            faulty: false,
            kinds: Kinds::default(),
            reliable: None,
            unreliable: None,
            validate: None,
            per_second: None,
            waits: None,
            name: None,
        };
        attrs.faulty = each(attributes, &CALL, errors, |arg| match arg.key.as_str() {
            "server" => arg.put(&mut attrs.kinds.server, Argument::flag),
            "client" => arg.put(&mut attrs.kinds.client, Argument::flag),
            "multicast" => arg.put(&mut attrs.kinds.multicast, Argument::flag),
            "reliable" => arg.put(&mut attrs.reliable, Argument::flag),
            "unreliable" => arg.put(&mut attrs.unreliable, Argument::flag),
            "validate" => arg.put(&mut attrs.validate, Argument::path),
            "per_second" => arg.put(&mut attrs.per_second, Argument::number),
            "waits" => arg.put(&mut attrs.waits, Argument::flag),
            _ => arg.put(&mut attrs.name, Argument::text),
        });
        Some(attrs)
    }
}

impl RpcsAttrs {
    pub(crate) fn parse(list: TokenStream, errors: &mut Errors) -> Self {
        let mut attrs = Self::default();
        apply_all(arguments(list, &BLOCK), errors, |arg| arg.put(&mut attrs.krate, Argument::path_or_text));
        attrs
    }
}

pub(crate) fn is_rpc(attribute: &Attribute) -> bool {
    CALL.reads(attribute)
}

pub(crate) fn is_replicated(attribute: &Attribute) -> bool {
    FIELD.reads(attribute)
}

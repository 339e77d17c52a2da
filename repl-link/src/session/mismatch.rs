//! The first difference between the classes, messages and calls of a client and of its server. The server
//! reports it to the client (R21).
//!
//! *Invariant:* a refusal contains only a few names, and each name is cut to a fixed length. So the size of a
//! refusal is limited, whatever the other side sends.

use std::fmt;

use repl_core::{BitReader, BitWriter, ReadError};

use crate::session::name::{cut, read_name, write_name};

/// The greatest length of a class name or property name in a refusal, in bytes.
const MAX_REFUSAL_NAME_BYTES: usize = 36;

/// The greatest length of all texts of a refusal together, in bytes. Texts of this length fit in the smallest
/// packet.
const MAX_REFUSAL_BYTES: usize = 108;

/// The prefix of the name of a type of messages in the handshake.
pub const MESSAGE: &str = "message ";
/// The prefix of a class name that stands for the reliable calls of the class.
pub const CALLS: &str = "calls of ";
/// The prefix of a class name that stands for the unreliable calls of the class.
pub const UNRELIABLE_CALLS: &str = "unreliable calls of ";

/// The first difference between the classes, messages and calls of a client and of its server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutMismatch {
    /// The wire name of the class. `message Chat` stands for the messages of the type `Chat`, and `calls of
    /// Hero` for the remote calls of the class `Hero`.
    pub class: String,
    /// The difference between the two classes.
    pub difference: Difference,
}

/// The thing that the name in a mismatch stands for: a class, a type of messages, or the calls of a class.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Class(&'a str),
    /// The messages of a type.
    Messages(&'a str),
    /// The calls of a class.
    Calls(&'a str),
}

/// One of the two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The client.
    Client = 0,
    /// The server.
    Server = 1,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Client => "client",
            Self::Server => "server",
        })
    }
}

/// How two classes with the same name differ. Messages and calls use the same variants. The property of a
/// type of messages is its channel (`channel`), a limit (`max_bytes`, `per_second`) or a field (`.text`). The
/// property of calls is a call (`fire`) or a parameter of a call (`fire.direction`).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Only one side has registered the class, the messages or the calls. Register them on the other side
    /// too, or remove them from both sides.
    NoClass {
        /// The side that lacks the class.
        missing_on: Side,
    },
    /// Only one side has this property, this call, or a part of it in the class. One of the two programs was
    /// built from older source code: build both again.
    NoProperty {
        /// The path of the property, or of the part of the property.
        property: String,
        /// The side that lacks the property, or a part of it.
        missing_on: Side,
    },
    /// A property has a different form on the two sides: its type, width, range, limit, condition, or the
    /// name or version of its serialiser differs. For messages, the channel, a limit or the form of a field
    /// differs. For a call, the kind, the reliability, the limit or the form of a parameter differs. Build
    /// both programs from the same source code.
    Form {
        /// The path of the property, or of its part that differs. Empty if the difference is in a type of
        /// messages as a whole.
        property: String,
        /// The form of the property on the client.
        client: String,
        /// The form of the property on the server.
        server: String,
    },
    /// Both sides have the same properties or calls, but in a different order. Declare them in the same
    /// order.
    Order {
        /// The first property that has a different position.
        property: String,
    },
    /// One side has fewer archetypes (numbered sets of initial values) of the class than the other side.
    /// Register the same archetypes on both sides, in the same order.
    NoArchetype {
        /// The number of the missing archetype in the order of registration, from one.
        archetype: u32,
        /// The side that lacks the archetype.
        missing_on: Side,
    },
    /// The initial value of a property differs. Use the same value in `Default`, or in the archetype, on both
    /// sides.
    Value {
        /// The property with the different initial value.
        property: String,
        /// The number of the archetype in the order of registration, from one. The number 0 stands for
        /// `Default`.
        archetype: u32,
    },
    /// The classes differ, but the handshake found no single part that differs. To find the difference, print
    /// the `LAYOUT` or the `CALLS` of the class, or the `WIRE_FORM` of a type of messages, in both programs,
    /// and compare the tables.
    Elsewhere,
}

impl std::error::Error for LayoutMismatch {}

impl fmt::Display for LayoutMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Subject::of(&self.class) {
            Subject::Class(class) => self.difference.write_of_class(class, f),
            Subject::Messages(name) => self.difference.write_of_messages(name, f),
            Subject::Calls(class) => self.difference.write_of_calls(class, f),
        }
    }
}

impl<'a> Subject<'a> {
    fn of(name: &'a str) -> Self {
        let calls = || [CALLS, UNRELIABLE_CALLS].into_iter().find_map(|prefix| name.strip_prefix(prefix));
        match name.strip_prefix(MESSAGE) {
            Some(name) => Self::Messages(name),
            None => calls().map_or(Self::Class(name), Self::Calls),
        }
    }
}

impl Difference {
    fn write_of_class(&self, class: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClass { missing_on } => {
                write!(f, "the {missing_on} has no class `{class}`: register it there too")
            }
            Self::NoProperty { property, missing_on } => write!(
                f,
                "the {missing_on} has no `{class}.{property}`: build both sides from the same version of the class"
            ),
            Self::Form { property, client, server } if client == server => write!(
                f,
                "`{class}.{property}` is `{server}` on both sides, but with different contents: compare the variants and fields of the type, or \
                 the name and the version of its serialiser"
            ),
            Self::Form { property, client, server } => write!(
                f,
                "`{class}.{property}` is `{client}` on the client and `{server}` on the server: declare it alike on both sides"
            ),
            Self::Order { property } => write!(
                f,
                "`{class}.{property}` has another position on the server: declare the fields in the same order on both sides"
            ),
            Self::NoArchetype { archetype, missing_on } => write!(
                f,
                "the {missing_on} has no archetype {archetype} of `{class}`: register the same archetypes on both sides, in the same order"
            ),
            Self::Value { property, archetype: 0 } => write!(
                f,
                "`{class}.{property}` begins with another value on the server: make `{class}::default()` the same on both sides"
            ),
            Self::Value { property, archetype } => write!(
                f,
                "`{class}.{property}` begins with another value in the server's archetype {archetype}: register the same archetypes on \
                 both sides, in the same order"
            ),
            Self::Elsewhere => write!(
                f,
                "`{class}` differs on the server: print its `LAYOUT` in both builds, and compare the tables"
            ),
        }
    }

    fn write_of_messages(&self, name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoClass { missing_on } => {
                write!(
                    f,
                    "the {missing_on} has no messages of the type `{name}`: register the type there too"
                )
            }
            Self::NoProperty { property, missing_on } => write!(
                f,
                "the {missing_on} has no `{name}{property}`: build both sides from the same version of the type"
            ),
            Self::Form { property, client, server } if client != server && is_content(property) => write!(
                f,
                "`{name}{property}` is `{client}` on the client and `{server}` on the server: declare it alike on both sides"
            ),
            Self::Form { property, client, server } if client != server => write!(
                f,
                "`{property}` of the messages `{name}` is `{client}` on the client and `{server}` on the server: register the type alike \
                 on both sides"
            ),
            Self::Order { property } => write!(
                f,
                "`{name}{property}` has another position on the server: declare the fields in the same order on both sides"
            ),
            _ => write!(
                f,
                "the messages `{name}` have other content on the server: print `{name}::WIRE_FORM` in both builds, and compare the tables"
            ),
        }
    }

    fn write_of_calls(&self, class: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = |property: &str| match property.split_once('.') {
            Some((call, parameter)) => format!("parameter `{parameter}` of the call `{class}::{call}`"),
            None => format!("call `{class}::{property}`"),
        };
        match self {
            Self::NoClass { missing_on } => {
                write!(f, "the {missing_on} has no calls of `{class}`: register the calls there too")
            }
            Self::NoProperty { property, missing_on } => write!(
                f,
                "the {missing_on} has no {}: build both sides from the same version of the class",
                named(property)
            ),
            Self::Form { property, client, server } if client == server => write!(
                f,
                "the {} is `{server}` on both sides, but with different contents: compare the variants and fields of the type, or the name and \
                 the version of its serialiser",
                named(property)
            ),
            Self::Form { property, client, server } => write!(
                f,
                "the {} is `{client}` on the client and `{server}` on the server: declare it alike on both sides",
                named(property)
            ),
            Self::Order { property } => write!(
                f,
                "the {} has another position on the server: declare the calls and their parameters in the same order on both sides",
                named(property)
            ),
            _ => write!(
                f,
                "the calls of `{class}` differ on the server: print `{class}::CALLS` in both builds, and compare the tables"
            ),
        }
    }
}

/// Returns whether a path in a type of messages names a part of the type. Other paths name its limits.
fn is_content(path: &str) -> bool {
    path.is_empty() || path.starts_with(['.', '[', '?', '{'])
}

impl LayoutMismatch {
    /// Writes the refusal, except for the form of a property on the client, because the client itself adds
    /// it.
    pub fn write(&self, writer: &mut BitWriter) {
        let name = |name: &str, writer: &mut BitWriter| write_name(name, MAX_REFUSAL_NAME_BYTES, writer);
        name(&self.class, writer);
        match &self.difference {
            Difference::NoClass { missing_on } => {
                writer.write_bits(0, 3);
                writer.write_bits(*missing_on as u64, 1);
            }
            Difference::NoProperty { property, missing_on } => {
                writer.write_bits(1, 3);
                name(property, writer);
                writer.write_bits(*missing_on as u64, 1);
            }
            Difference::Form { property, server, .. } => {
                writer.write_bits(2, 3);
                name(property, writer);
                let names = cut(&self.class, MAX_REFUSAL_NAME_BYTES).len();
                let names = names.saturating_add(cut(property, MAX_REFUSAL_NAME_BYTES).len());
                write_name(server, MAX_REFUSAL_BYTES.saturating_sub(names), writer);
            }
            Difference::Order { property } => {
                writer.write_bits(3, 3);
                name(property, writer);
            }
            Difference::NoArchetype { archetype, missing_on } => {
                writer.write_bits(4, 3);
                writer.write_bits((*archetype).into(), 32);
                writer.write_bits(*missing_on as u64, 1);
            }
            Difference::Value { property, archetype } => {
                writer.write_bits(5, 3);
                name(property, writer);
                writer.write_bits((*archetype).into(), 32);
            }
            Difference::Elsewhere => writer.write_bits(6, 3),
        }
    }

    /// Reads a refusal that [`write`](Self::write) wrote.
    pub fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        let class = read_name(reader)?;
        let side = |reader: &mut BitReader<'_>| {
            reader.read_flag().map(|is| if is { Side::Server } else { Side::Client })
        };
        let difference = match reader.read_bits(3)? {
            0 => Difference::NoClass { missing_on: side(reader)? },
            1 => Difference::NoProperty { property: read_name(reader)?, missing_on: side(reader)? },
            2 => Difference::Form {
                property: read_name(reader)?,
                client: String::new(),
                server: read_name(reader)?,
            },
            3 => Difference::Order { property: read_name(reader)? },
            4 => {
                Difference::NoArchetype { archetype: reader.read_bits(32)? as u32, missing_on: side(reader)? }
            }
            5 => Difference::Value { property: read_name(reader)?, archetype: reader.read_bits(32)? as u32 },
            6 => Difference::Elsewhere,
            _ => return Err(ReadError::UnknownVariant),
        };
        Ok(Self { class, difference })
    }
}

//! The table of the calls of a class: everything that `#[rpcs]` knows about the calls at compile time.
//!
//! *Invariant:* the checksum covers all properties of the calls that must be equal on both sides.

use repl_core::__private::{Field, within};
use repl_core::{Checksum, Form};

/// The side that runs a call, and the sides that may make it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallKind {
    /// Runs on the server. The client that owns the object and the server itself may call it.
    Server,
    /// Runs on the client that owns the object. The server and this client itself may call it.
    Client,
    /// Runs on the server and on every client that has the object, when the server calls it. If a client
    /// calls it, it runs only on that client.
    Multicast,
}

impl CallKind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
            Self::Multicast => "multicast",
        }
    }
}

/// One call of a class.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct CallEntry {
    pub name: &'static str,
    pub kind: CallKind,
    pub is_reliable: bool,
    pub is_validated: bool,
    /// Whether the call waits until the objects to which its parameters refer exist.
    pub waits: bool,
    /// The number of calls of this function per second that one client may make.
    pub per_second: u32,
    /// Whether the call has no body, so that it waits until the user polls it.
    pub is_polled: bool,
    /// Whether the body of the call needs a [`ClientCall`](crate::ClientCall), which a host does not have.
    pub needs_client: bool,
    pub parameters: &'static [Parameter],
}

impl CallEntry {
    pub(super) fn kind_text(&self) -> String {
        let reliability = if self.is_reliable { "reliable" } else { "unreliable" };
        format!("{}, {reliability}", self.kind.name())
    }

    /// Returns the number of calls per second that a client may make, as text. Returns `None` for calls that
    /// clients do not send.
    pub(super) fn rate_text(&self) -> Option<String> {
        (self.kind == CallKind::Server).then(|| format!("{} per second", self.per_second))
    }

    /// Returns all options of the call that must be equal on both sides, as text. Its parameters are not
    /// included.
    fn text(&self) -> String {
        let waits = self.waits.then(|| "waits".to_owned());
        let parts = [Some(self.kind_text()), self.rate_text(), waits];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Adds all options of the call that must be equal on both sides to a checksum. Its parameters are not
    /// included.
    fn add_to(&self, sum: Checksum) -> Checksum {
        let flags = u64::from(self.is_reliable) | u64::from(self.waits) << 1;
        sum.text(self.name).text(self.kind.name()).number(flags).number(self.per_second.into())
    }
}

/// One parameter of a call.
#[derive(Clone, Copy)]
#[doc(hidden)]
pub struct Parameter {
    pub name: &'static str,
    pub field: &'static Field,
}

/// Checks the value of `per_second` if it is a constant of the user. (`#[rpcs]` itself checks only literals.)
///
/// # Panics
/// Panics if the limit is out of range. This is a compile error of the user's program.
#[must_use]
#[track_caller]
pub const fn checked_per_second(per_second: i128) -> u32 {
    within("per_second", per_second, 1, 10_000) as u32
}

/// The calls of a class, in the order of their declaration. `T::CALLS` is the table of the class `T`.
pub struct CallTable {
    class: &'static str,
    calls: &'static [CallEntry],
}

impl CallTable {
    /// Makes the table of a class.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(class: &'static str, calls: &'static [CallEntry]) -> Self {
        Self { class, calls }
    }

    /// Returns the name of the class.
    #[must_use]
    pub const fn class(&self) -> &'static str {
        self.class
    }

    /// Returns the number of calls.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.calls.len()
    }

    /// Returns whether there are no calls.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn calls(&self) -> &'static [CallEntry] {
        self.calls
    }

    pub(super) fn entry(&self, number: usize) -> Option<&'static CallEntry> {
        self.calls.get(number)
    }

    /// Returns the form of each call and of each of its parameters, in the order of declaration. A form is a
    /// description that must be equal on both sides.
    pub(super) fn forms(&self) -> Vec<Form> {
        let mut forms = Vec::new();
        for call in self.calls {
            let sum = call.add_to(Checksum::new()).finish();
            forms.push(Form { path: call.name.to_owned(), text: call.text(), sum });
            for parameter in call.parameters {
                forms.extend(parameter.field.forms(format!("{}.{}", call.name, parameter.name)));
            }
        }
        forms
    }

    /// Returns a checksum of all options that decide who runs a call and how the call is delivered. The
    /// parameters are not included, because the checksum of the enum of calls covers them.
    pub(super) fn checksum(&self) -> u64 {
        let sum = Checksum::new().text(self.class);
        self.calls.iter().fold(sum, |sum, call| call.add_to(sum)).finish()
    }
}

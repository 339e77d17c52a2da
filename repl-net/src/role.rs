//! Roles: who simulates an object where (S204, S205).
//!
//! Invariant: only the owner's connection ever sees an autonomous proxy.

/// What the server's object is on the clients.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// No proxy at all: conditions on simulated proxies do not hold.
    None,
    /// Moved by what arrives.
    #[default]
    SimulatedProxy,
    /// Driven by its owner; to all others a simulated proxy (S204).
    AutonomousProxy,
    /// Simulated by the client itself.
    Authority,
}

impl Role {
    /// Whether the object is a simulated proxy to its owner or to another.
    pub(crate) fn is_simulated(self, owner: bool) -> bool {
        match self {
            Self::SimulatedProxy => true,
            Self::AutonomousProxy => !owner,
            Self::None | Self::Authority => false,
        }
    }
}

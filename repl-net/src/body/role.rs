//! Roles. A role says who controls an object: the server, the client that owns the object, or each client for
//! its own copy (S204, S205).
//!
//! *Invariant:* an object is an autonomous proxy only on the client that owns it.
#![cfg_attr(not(test), deny(clippy::indexing_slicing, clippy::arithmetic_side_effects))]

use repl_core::{BitReader, BitWriter, ReadError};

/// The role of an object of the server on a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The object has no role on the client. Conditions for simulated proxies do not apply to it.
    None,
    /// The client moves the object according to the state that it receives.
    #[default]
    SimulatedProxy,
    /// The client owns the object and controls it. On all other clients, the object is a simulated proxy.
    AutonomousProxy,
    /// The client simulates the object itself.
    Authority,
}

impl Role {
    /// Converts a role that the server has set to the role of the object on a client. `is_owner` says whether
    /// this client owns the object (S204).
    fn for_client(self, is_owner: bool) -> Self {
        match self {
            Self::AutonomousProxy if !is_owner => Self::SimulatedProxy,
            role => role,
        }
    }

    /// Returns whether an object with this role is a simulated proxy: on the client that owns it if `owner`
    /// is true, and otherwise on all other clients.
    pub(crate) fn is_simulated(self, owner: bool) -> bool {
        match self {
            Self::SimulatedProxy => true,
            Self::AutonomousProxy => !owner,
            Self::None | Self::Authority => false,
        }
    }
}

/// The greatest number of bits that [`Proxy::write`] writes.
pub(crate) const PROXY_BITS: usize = 5;

/// What one client knows about an object besides its values: the owner, the role, and whether the object
/// sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Proxy {
    /// Whether this client owns the object.
    pub(crate) is_owner: bool,
    /// The role of the object on this client.
    pub(crate) role: Role,
    /// Whether the object sleeps for this client, which means that the server sends no updates of it.
    pub(crate) is_asleep: bool,
}

impl Proxy {
    /// `role` is the role that the server has set, and `is_owner` says whether the client owns the object.
    pub(crate) fn new(role: Role, is_owner: bool) -> Self {
        Self { is_owner, role: role.for_client(is_owner), is_asleep: false }
    }

    /// Writes the owner flag, the role, and whether the object sleeps. For most objects all three have their
    /// default values, which together take 1 bit.
    pub(crate) fn write(self, writer: &mut BitWriter) {
        let is_special = self != Self::default();
        writer.write_flag(is_special);
        if is_special {
            writer.write_flag(self.is_owner);
            writer.write_bits(self.role as u64, 2);
            writer.write_flag(self.is_asleep);
        }
    }

    /// Writes bits that mean "no proxy". They are the default values in the long form, which
    /// [`write`](Self::write) never writes.
    pub(crate) fn write_none(writer: &mut BitWriter) {
        writer.write_flag(true);
        writer.write_flag(false);
        writer.write_bits(Role::SimulatedProxy as u64, 2);
        writer.write_flag(false);
    }

    /// Reads bits that [`write`](Self::write) wrote. Returns an error for all other bits.
    pub(crate) fn read(reader: &mut BitReader<'_>) -> Result<Self, ReadError> {
        Self::read_any(reader)?.ok_or(ReadError::OutOfRange)
    }

    /// Does the same as [`read`](Self::read), but returns `None` for the bits that
    /// [`write_none`](Self::write_none) wrote.
    pub(crate) fn read_any(reader: &mut BitReader<'_>) -> Result<Option<Self>, ReadError> {
        if !reader.read_flag()? {
            return Ok(Some(Self::default()));
        }
        let is_owner = reader.read_flag()?;
        let role = match reader.read_bits(2)? {
            0 => Role::None,
            1 => Role::SimulatedProxy,
            2 => Role::AutonomousProxy,
            _ => Role::Authority,
        };
        let proxy = Self { is_asleep: reader.read_flag()?, ..Self::new(role, is_owner) };
        if proxy.role != role {
            return Err(ReadError::OutOfRange);
        }
        Ok(Some(proxy).filter(|proxy| *proxy != Self::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROLES: [Role; 4] = [Role::None, Role::SimulatedProxy, Role::AutonomousProxy, Role::Authority];

    #[test]
    fn s204_an_autonomous_proxy_is_a_simulated_one_to_all_but_its_owner() {
        for role in ROLES {
            assert_eq!(Proxy::new(role, true).role, role);
        }
        assert_eq!(Proxy::new(Role::AutonomousProxy, false).role, Role::SimulatedProxy);
    }

    #[test]
    fn written_forms_are_read_and_all_other_forms_are_refused() {
        let mut forms = Vec::new();
        for (role, is_owner) in ROLES.into_iter().flat_map(|role| [(role, false), (role, true)]) {
            for is_asleep in [false, true] {
                let proxy = Proxy { is_asleep, ..Proxy::new(role, is_owner) };
                let mut writer = BitWriter::new();
                proxy.write(&mut writer);
                assert_eq!(Proxy::read(&mut writer.as_slice().reader()), Ok(proxy));
                assert!(writer.bit_len() == if proxy == Proxy::default() { 1 } else { 5 });
                forms.push(writer.finish().to_vec());
            }
        }
        for bits in 0..32 {
            let mut writer = BitWriter::new();
            writer.write_bits(bits, 5);
            let is_form = bits & 1 == 0 || forms.contains(&writer.finish().to_vec());
            let mut writer = BitWriter::new();
            writer.write_bits(bits, 5);
            assert_eq!(Proxy::read(&mut writer.as_slice().reader()).is_ok(), is_form, "{bits:05b}");
        }
    }
}

//! The settings of one side that its handshake uses: limits and times.
//!
//! *Invariant:* the terms of a side are the same in the whole session.

use std::fmt;
use std::time::Duration;

use super::login::{Concealed, max_login_bytes};
use crate::frame::packet::MTU_BYTES;

/// The limits of one side. The client's limits must be at least the server's limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// The greatest size of a packet in bytes: 128 to 65,507.
    pub mtu_bytes: usize,
    /// The greatest number of objects at the same time.
    pub max_objects: usize,
    /// The greatest size of one object in bytes.
    pub max_object_bytes: usize,
}

/// By default, packets have up to 1,200 bytes. There are up to 65,536 objects, each with up to 256 KiB.
impl Default for Capacity {
    fn default() -> Self {
        Self { mtu_bytes: 1_200, max_objects: 65_536, max_object_bytes: 256 << 10 }
    }
}

/// The terms of a client. `Debug` prints only the length of the login, which may contain a password.
#[derive(Clone, Copy)]
pub struct ClientTerms<'a> {
    /// The limits of the client.
    pub capacity: Capacity,
    /// After this time of silence the client ends the session.
    pub timeout: Duration,
    /// The login data for the application of the server, at most 512 bytes.
    pub login: &'a [u8],
    /// Whether the client connects again after it has lost a session.
    pub reconnects: bool,
    /// The number of the first packet of each session, the same on both sides.
    pub first_sequence: u64,
}

/// The terms of a server.
#[derive(Clone, Copy, Debug)]
pub struct ServerTerms {
    /// The limits of the server. Each client's limits must be at least as high.
    pub capacity: Capacity,
    /// After this time of silence the server ends the session.
    pub timeout: Duration,
    /// Whether the application decides about each client.
    pub asks_login: bool,
    /// How long the application may take for its decision.
    pub login_timeout: Duration,
}

/// The default of all timeouts.
const TIMEOUT: Duration = Duration::from_secs(10);

/// By default, the timeout is 10 s, the login is empty, and the client connects again.
impl Default for ClientTerms<'_> {
    fn default() -> Self {
        let capacity = Capacity::default();
        Self { capacity, timeout: TIMEOUT, login: &[], reconnects: true, first_sequence: 0 }
    }
}

/// By default, the timeouts are 10 s, and the application does not decide about logins.
impl Default for ServerTerms {
    fn default() -> Self {
        let capacity = Capacity::default();
        Self { capacity, timeout: TIMEOUT, asks_login: false, login_timeout: TIMEOUT }
    }
}

impl fmt::Debug for ClientTerms<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { capacity, timeout, login, reconnects, first_sequence } = self;
        f.debug_struct("ClientTerms")
            .field("capacity", capacity)
            .field("timeout", timeout)
            .field("login", &Concealed(login.len()))
            .field("reconnects", reconnects)
            .field("first_sequence", first_sequence)
            .finish()
    }
}

impl Capacity {
    /// # Panics
    /// Panics if a field is out of its range. The message names the field.
    #[track_caller]
    fn assert_valid(&self) {
        let bytes = self.mtu_bytes;
        assert!(
            MTU_BYTES.contains(&bytes),
            "the largest packet is from 128 to 65,507 bytes, but `mtu_bytes` is {bytes}"
        );
        assert_positive("max_objects", self.max_objects);
        assert_positive("max_object_bytes", self.max_object_bytes);
    }
}

impl ClientTerms<'_> {
    /// Checks the terms.
    ///
    /// # Panics
    /// Panics if a field is out of its range. The message names the field.
    #[track_caller]
    pub fn assert_valid(&self) {
        self.capacity.assert_valid();
        assert_timeout("timeout", self.timeout);
        let (bytes, mtu_bytes) = (self.login.len(), self.capacity.mtu_bytes);
        let most = max_login_bytes(mtu_bytes);
        assert!(
            bytes <= most,
            "`login` has at most {most} bytes with packets of {mtu_bytes} bytes, but it has {bytes}"
        );
    }
}

impl ServerTerms {
    /// Checks the terms.
    ///
    /// # Panics
    /// Panics if a field is out of its range. The message names the field.
    #[track_caller]
    pub fn assert_valid(&self) {
        self.capacity.assert_valid();
        assert_timeout("timeout", self.timeout);
        assert_timeout("login_timeout", self.login_timeout);
    }
}

#[track_caller]
fn assert_timeout(name: &str, timeout: Duration) {
    assert!(
        timeout >= Duration::from_millis(1),
        "`{name}` is at least 1 ms, but {timeout:?} was asked for: every connection would be closed at once"
    );
}

/// # Panics
/// Panics if a limit is zero. The message names the limit.
#[track_caller]
pub(crate) fn assert_positive(name: &str, limit: usize) {
    assert!(limit > 0, "`{name}` is at least 1, but 0 was asked for: nothing could ever be sent");
}

//! Canaries: secrets of 16 bytes that contain their object and property, and the search for them in packets.
//!
//! *Invariant:* a canary is found at every bit of a packet.

/// The upper half of every canary.
const MARK: u64 = 0xc4a7_91e5_d83b_6f29;

/// The object and property of a canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canary {
    /// The number that the test has given to the object.
    pub(crate) object: u32,
    /// The property.
    pub(crate) property: u8,
    /// The number of the property's value, from zero, modulo 2^24.
    pub(crate) version: u32,
}

impl Canary {
    pub(crate) fn value(self) -> u128 {
        let id = u64::from(self.object) << 32
            | u64::from(self.property) << 24
            | u64::from(self.version & 0xff_ffff);
        u128::from(MARK) << 64 | u128::from(id)
    }

    fn from_value(value: u128) -> Option<Self> {
        let id = value as u64;
        let found =
            Self { object: (id >> 32) as u32, property: (id >> 24) as u8, version: id as u32 & 0xff_ffff };
        ((value >> 64) as u64 == MARK).then_some(found)
    }
}

/// Calls `found` for every canary in the bits of `bytes`.
pub(crate) fn scan(bytes: &[u8], mut found: impl FnMut(Canary)) {
    for window in bytes.windows(17) {
        let mut low = [0; 16];
        low.copy_from_slice(&window[..16]);
        let (low, high) = (u128::from_le_bytes(low), u128::from(window[16]));
        for shift in 0..8_u32 {
            let value = if shift == 0 { low } else { low >> shift | high << (128 - shift) };
            if let Some(canary) = Canary::from_value(value) {
                found(canary);
            }
        }
    }
    // The window above is one byte longer than a canary that ends the packet.
    if let Some(Some(canary)) = bytes.last_chunk().map(|last| Canary::from_value(u128::from_le_bytes(*last)))
    {
        found(canary);
    }
}

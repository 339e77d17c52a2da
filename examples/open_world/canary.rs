//! Canaries: 16-byte values that contain the numbers of their object and property, and the search for them in
//! packets.
//!
//! *Invariant:* the search depends only on one fact of the wire format: bits fill bytes from the lowest bit
//! up.

/// The upper 8 bytes of every canary.
const TAG: u64 = 0xb5d1_70e9_2c6f_a843;

/// The object and the property of a canary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Canary {
    /// The number of the object.
    pub(crate) object: u32,
    pub(crate) property: u8,
    /// How many canaries this property had before this one, modulo 2^24.
    pub(crate) version: u32,
}

impl Canary {
    pub(crate) fn value(self) -> u128 {
        let version = u64::from(self.version) & 0xff_ffff;
        let id = u64::from(self.object) << 32 | u64::from(self.property) << 24 | version;
        u128::from(TAG) << 64 | u128::from(id)
    }

    fn from_value(value: u128) -> Option<Self> {
        let id = value as u64;
        let is_canary = (value >> 64) as u64 == TAG;
        is_canary.then_some(Self {
            object: (id >> 32) as u32,
            property: (id >> 24) as u8,
            version: id as u32 & 0xff_ffff,
        })
    }
}

/// Calls `found` for every canary that begins at any bit of a packet. O(bits).
pub(crate) fn scan(packet: &[u8], mut found: impl FnMut(Canary)) {
    for (start, window) in packet.windows(16).enumerate() {
        let low = window.try_into().map_or(0, u128::from_le_bytes);
        let next = packet.get(start + 16).copied();
        let shifts = if next.is_some() { 8 } else { 1 };
        for shift in 0..shifts {
            let value = match next {
                Some(high) if shift > 0 => low >> shift | u128::from(high) << (128 - shift),
                _ => low,
            };
            if let Some(canary) = Canary::from_value(value) {
                found(canary);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_found_at_every_bit() {
        let canary = Canary { object: 9_999, property: 1, version: 1_800 };
        for at in 0..64 {
            let mut packet = vec![0x5a; 24];
            for bit in 0..128 {
                let (byte, mask) = ((at + bit) / 8, 1 << ((at + bit) % 8));
                let is_set = canary.value() >> bit & 1 == 1;
                packet[byte] = if is_set { packet[byte] | mask } else { packet[byte] & !mask };
            }
            let mut found = Vec::new();
            scan(&packet, |canary| found.push(canary));
            assert_eq!(found, [canary], "at bit {at}");
        }
    }
}

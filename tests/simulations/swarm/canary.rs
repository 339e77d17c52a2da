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

/// Returns for each value of the byte `at` of a window how far a canary can be shifted in the window, from 0
/// to 7 bits, if its mark has this value in the byte. The shifts are the bits of the result. Byte 8 is the
/// first byte with bits of the mark.
const fn shifts(at: u32) -> [u8; 256] {
    let (mut table, mut shift) = ([0; 256], 0);
    while shift < 8 {
        table[(MARK >> (8 * (at - 8) - shift)) as u8 as usize] |= 1 << shift;
        shift += 1;
    }
    table
}

/// Calls `found` for every canary in the bits of `bytes`.
pub(crate) fn scan(bytes: &[u8], mut found: impl FnMut(Canary)) {
    const NINTH: [u8; 256] = shifts(9);
    const TENTH: [u8; 256] = shifts(10);
    for window in bytes.windows(17) {
        let shifts = NINTH[usize::from(window[9])] & TENTH[usize::from(window[10])];
        if shifts == 0 {
            continue;
        }
        let mut low = [0; 16];
        low.copy_from_slice(&window[..16]);
        let (low, high) = (u128::from_le_bytes(low), u128::from(window[16]));
        for shift in (0..8_u32).filter(|shift| shifts >> shift & 1 == 1) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_canary_is_found_at_every_bit() {
        let canary = Canary { object: 7, property: 3, version: 12 };
        for offset in 0..40_u32 {
            let mut bytes = [0xa5_u8; 24];
            for bit in 0..128 {
                let (at, is_one) = ((offset + bit) as usize, canary.value() >> bit & 1 == 1);
                let mask = 1 << (at % 8);
                bytes[at / 8] = if is_one { bytes[at / 8] | mask } else { bytes[at / 8] & !mask };
            }
            let mut count = 0;
            scan(&bytes, |found| count += u32::from(found == canary));
            assert_eq!(count, 1, "bit {offset}");
        }
    }
}

//! The hash of a certificate, and its form as text.
//!
//! *Invariant:* the text of a hash is read back as the same hash.

use std::fmt;
use std::str::FromStr;

/// The SHA-256 hash of a certificate. A client can trust a server by this hash. As text, it is 64 hexadecimal
/// digits; colons between them are ignored.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CertificateHash(pub [u8; 32]);

/// The error for a text that is not the hash of a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the hash of a certificate has 64 hexadecimal digits: {0}")]
pub struct HashError(String);

impl fmt::Display for CertificateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for CertificateHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for CertificateHash {
    type Err = HashError;

    fn from_str(text: &str) -> Result<Self, HashError> {
        let wrong = || HashError(text.to_owned());
        let digits: Option<Vec<u8>> = text
            .chars()
            .filter(|char| *char != ':')
            .map(|char| char.to_digit(16).map(|digit| digit as u8))
            .collect();
        let digits = digits.filter(|digits| digits.len() == 64).ok_or_else(wrong)?;
        let mut hash = [0; 32];
        for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = pair.iter().fold(0, |byte, digit| byte << 4 | digit);
        }
        Ok(Self(hash))
    }
}

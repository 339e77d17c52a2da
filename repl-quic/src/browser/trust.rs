//! Which servers a client in a browser trusts.
//!
//! *Invariant:* a client without a name and without hashes trusts no server.

use std::path::{Path, PathBuf};

use super::address::is_name;
use crate::hash::CertificateHash;

/// Decides which servers a client trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    /// The name that the certificate must contain. `None` if the hashes decide.
    pub(super) name: Option<String>,
    pub(super) hashes: Vec<CertificateHash>,
}

/// The error if a [`Trust`] cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The text cannot be the name of a server.
    #[error("{name:?} is no name of a server: take the one in its certificate, without a scheme and a port")]
    Name {
        /// The text that was passed as the name.
        name: String,
    },
    /// A page cannot read files. Pass the hash of the server's certificate to [`Trust::pinned`].
    #[error(
        "a page cannot read {}: pass the hash that `Identity::hash` of the server returns to `Trust::pinned`, for example in the \
         address of the page",
        folder.display()
    )]
    NoFiles {
        /// The folder that was passed.
        folder: PathBuf,
    },
}

impl Trust {
    /// Trusts certificates for `name` that are issued by authorities which the browser trusts. `name` is a
    /// name of the server, for example `"play.example.com"`, or its IP address. The browser resolves the
    /// name, and ignores the IP address that was passed to [`QuicClient::new`](crate::QuicClient::new).
    ///
    /// # Errors
    /// Returns an error if `name` cannot be the name of a server.
    pub fn platform(name: &str) -> Result<Self, TrustError> {
        if !is_name(name) {
            return Err(TrustError::Name { name: name.to_owned() });
        }
        Ok(Self { name: Some(name.to_owned()), hashes: Vec::new() })
    }

    /// Trusts only certificates with one of these hashes, while they are valid. Their names and signatures
    /// are not checked. Browsers accept this only for certificates with an ECDSA key that are valid for at
    /// most 14 days. Before you replace a certificate, pass both the old and the new hash. Clients must
    /// receive the hashes in a secure way, for example together with the program, or from a matchmaker over
    /// HTTPS.
    pub fn pinned(hashes: impl IntoIterator<Item = CertificateHash>) -> Self {
        Self { name: None, hashes: hashes.into_iter().collect() }
    }

    /// Always returns an error, because a page cannot read the folder. It exists so that the program of a
    /// client compiles for browsers.
    ///
    /// # Errors
    /// Returns an error that says what to do instead: pass the hash that `Identity::hash` of the server
    /// returns to [`pinned`](Self::pinned).
    pub fn development(folder: impl AsRef<Path>) -> Result<Self, TrustError> {
        Err(TrustError::NoFiles { folder: folder.as_ref().to_owned() })
    }
}

//! Certificates: their hashes, their dates and their files.
//!
//! *Invariant:* each error about a file contains the path of the file.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ring::digest::{SHA256, digest};
use rustls::CertificateError;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use x509_parser::prelude::{ASN1Time, FromDer, X509Certificate};

pub(crate) use crate::hash::CertificateHash;

/// The name of the certificate's file in a folder for development.
const CERTIFICATE_FILE: &str = "certificate.pem";

/// The reason why an identity (a certificate with its key) could not be loaded or made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The content of a file is not valid.
    #[error("{}: {why}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// The key does not belong to the certificate, or TLS 1.3 does not support this kind of key.
    #[error("the key and the certificate do not go together: {0}")]
    Mismatch(String),
}

impl CertificateHash {
    /// Returns the hash of a certificate in DER format.
    pub(crate) fn of(certificate: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, certificate).as_ref());
        Self(hash)
    }
}

pub(crate) fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    chain_in(path, &read(path)?)
}

/// Returns the certificates in the content of a PEM file. `path` is for the error.
pub(crate) fn chain_in(path: &Path, bytes: &[u8]) -> Result<Vec<CertificateDer<'static>>, IdentityError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes).collect();
    match chain {
        Ok(chain) if !chain.is_empty() => Ok(chain),
        Ok(_) => Err(content(path, "no certificate in the form PEM")),
        Err(error) => Err(content(path, &format!("no certificate in the form PEM: {error}"))),
    }
}

/// Returns the path of the certificate's file in a folder of [`development`](crate::Identity::development).
pub(crate) fn certificate_of(folder: &Path) -> PathBuf {
    folder.join(CERTIFICATE_FILE)
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, IdentityError> {
    fs::read(path).map_err(|source| file(path, source))
}

pub(crate) fn file(path: &Path, source: io::Error) -> IdentityError {
    IdentityError::File { path: path.to_owned(), source }
}

pub(crate) fn content(path: &Path, why: &str) -> IdentityError {
    IdentityError::Content { path: path.to_owned(), why: why.to_owned() }
}

pub(crate) fn check_time(own: &CertificateDer<'_>, time: UnixTime) -> Result<(), CertificateError> {
    let (_, parsed) = X509Certificate::from_der(own).map_err(|_| CertificateError::BadEncoding)?;
    let secs = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    let time = ASN1Time::from_timestamp(secs).map_err(|_| CertificateError::Expired)?;
    if time < parsed.validity().not_before {
        Err(CertificateError::NotValidYet)
    } else if time > parsed.validity().not_after {
        Err(CertificateError::Expired)
    } else {
        Ok(())
    }
}

pub(crate) fn is_valid_at(own: &CertificateDer<'_>, time: SystemTime) -> bool {
    let since_epoch = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
    check_time(own, UnixTime::since_unix_epoch(since_epoch)).is_ok()
}

//! The identity of a server: its certificate and its private key.
//!
//! *Invariant:* the key is never printed, and never written to a file that other users can read.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, PKCS_ECDSA_P256_SHA256};
use ring::digest::{SHA256, digest};
use ring::hkdf::{HKDF_SHA256, Prk, Salt};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::hash::CertificateHash;
use crate::native::certificate::{
    IdentityError, certificate_of, chain_in, content, file, is_valid_at, read, read_chain,
};
use crate::native::settings::PROTOCOL;

/// How long a development certificate is valid. Browsers trust a certificate by its hash only if it is valid
/// for at most 14 days.
const DEVELOPMENT_LIFE: Duration = Duration::from_secs(13 * 24 * 3_600);

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// A development certificate is replaced this time before it expires.
const REPLACED_BEFORE_END: Duration = Duration::from_secs(2 * 24 * 3_600);

/// The name of the file, in a folder for development, with the key and its certificate. Both are in one file:
/// if several servers are started at the same time, a key of one and a certificate of another cannot be
/// mixed.
const IDENTITY_FILE: &str = "identity.pem";

/// The first and the last line of a certificate in the file.
const CERTIFICATE_LABEL: &str = "-----BEGIN CERTIFICATE-----\n";
const CERTIFICATE_END: &str = "-----END CERTIFICATE-----";

/// The identity of a server: its certificate, and the private key that belongs to it. `Debug` does not print
/// the key.
pub struct Identity {
    pub(crate) chain: Vec<CertificateDer<'static>>,
    pub(crate) key: PrivateKeyDer<'static>,
}

impl Identity {
    /// Loads a certificate and its key from PEM files, as certificate authorities issue them. The file of the
    /// certificate begins with the server's certificate. The chain to the authority follows. Clients can
    /// trust the certificate by [`Trust::platform`](crate::Trust::platform), if it contains the name to which
    /// they connect.
    ///
    /// After a renewal of the certificate, load the files again and call
    /// [`QuicServer::set_identity`](crate::QuicServer::set_identity). Connected clients remain connected.
    ///
    /// # Errors
    /// Returns an error if the key does not belong to the certificate. Returns an error with the path of the
    /// file if a file cannot be read, or has no certificate or no key.
    pub fn from_pem(certificate: impl AsRef<Path>, key: impl AsRef<Path>) -> Result<Self, IdentityError> {
        let (certificate, key) = (certificate.as_ref(), key.as_ref());
        let identity = Self { chain: read_chain(certificate)?, key: key_in(key, &read(key)?)? };
        identity.tls(&[PROTOCOL]).map_err(|error| IdentityError::Content {
            path: key.to_owned(),
            why: format!("it does not belong to the certificate in {}: {error}", certificate.display()),
        })?;
        Ok(identity)
    }

    /// Loads a certificate for development from a folder, or makes one if the folder has none. The
    /// certificate has the names `localhost`, `127.0.0.1` and `::1`, is self-signed, and is valid for 13
    /// days. It is replaced two days before it expires. Until then, a restarted server has the same
    /// [hash](Self::hash).
    ///
    /// Clients that can read the folder can trust the certificate by
    /// [`Trust::development`](crate::Trust::development). Other clients can trust it by
    /// [`Trust::pinned`](crate::Trust::pinned) with its hash. Do not release a program that pins this hash:
    /// after at most 13 days the server has another certificate.
    ///
    /// # Errors
    /// Returns an error that contains the file's path if the folder cannot be read or written.
    pub fn development(folder: impl AsRef<Path>) -> Result<Self, IdentityError> {
        let folder = folder.as_ref();
        let both = folder.join(IDENTITY_FILE);
        fs::create_dir_all(folder).map_err(|source| file(folder, source))?;
        let kept = if both.exists() { Some(Self::both(&both, &read(&both)?)?) } else { None };
        if !kept.as_ref().is_some_and(Self::lasts) {
            let (made, key) = make(SystemTime::now())?;
            write_secret(&both, (key.serialize_pem() + &made.pem()).as_bytes(), kept.is_some())?;
        }
        // Another process may have written the file first. In this case, its identity is read here.
        let bytes = read(&both)?;
        let identity = Self::both(&both, &bytes)?;
        publish(&certificate_of(folder), &bytes)?;
        Ok(identity)
    }

    fn both(path: &Path, bytes: &[u8]) -> Result<Self, IdentityError> {
        Ok(Self { chain: chain_in(path, bytes)?, key: key_in(path, bytes)? })
    }

    /// Returns whether a development certificate is still valid for long enough to be used.
    fn lasts(&self) -> bool {
        let later = SystemTime::now().checked_add(REPLACED_BEFORE_END);
        self.chain.first().zip(later).is_some_and(|(own, later)| is_valid_at(own, later))
    }

    /// Returns the hash of the certificate, by which clients can [trust](crate::Trust::pinned) it. A renewed
    /// certificate has another hash, even if its key is the same. `openssl x509 -noout -fingerprint -sha256`
    /// prints the same hash.
    #[must_use]
    pub fn hash(&self) -> CertificateHash {
        CertificateHash::of(self.chain.first().map_or(&[][..], |own| own))
    }

    /// Derives a secret from the private key. The secret is the same after a restart. `process` distinguishes
    /// processes that have the same key.
    pub(crate) fn derive(&self, purpose: &'static [u8], process: &[&[u8]]) -> [u8; 32] {
        let secret: Prk = Salt::new(HKDF_SHA256, purpose).extract(self.key.secret_der());
        let mut derived = [0; 32];
        let expanded = secret.expand(process, HKDF_SHA256).and_then(|okm| okm.fill(&mut derived));
        if expanded.is_err() {
            // This never happens, because HKDF can always derive a secret of the length of the hash.
            derived.copy_from_slice(digest(&SHA256, self.key.secret_der()).as_ref());
        }
        derived
    }

    /// Returns the TLS settings of a server that offers these protocols, the preferred one first.
    pub(crate) fn tls(&self, protocols: &[&[u8]]) -> Result<rustls::ServerConfig, IdentityError> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&rustls::version::TLS13])
            .map_err(|error| IdentityError::Mismatch(error.to_string()))?
            .with_no_client_auth()
            .with_single_cert(self.chain.clone(), self.key.clone_key())
            .map_err(|error| IdentityError::Mismatch(error.to_string()))?;
        tls.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
        tls.max_early_data_size = 0;
        tls.send_tls13_tickets = 0;
        Ok(tls)
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("hash", &self.hash()).finish_non_exhaustive()
    }
}

/// Makes a certificate for development with its key. It is valid from one day before `now`.
pub(crate) fn make(now: SystemTime) -> Result<(rcgen::Certificate, KeyPair), IdentityError> {
    let failed = |error: rcgen::Error| IdentityError::Mismatch(error.to_string());
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mut params = CertificateParams::new(names).map_err(failed)?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "repl development");
    // The certificate is already valid since yesterday, because the clocks of other machines may be behind.
    params.not_before = now.checked_sub(DAY).unwrap_or(now).into();
    params.not_after = now.checked_add(DEVELOPMENT_LIFE.saturating_sub(DAY)).unwrap_or(now).into();
    let key = KeyPair::generate_for(&PKCS_ECDSA_P256_SHA256).map_err(failed)?;
    Ok((params.self_signed(&key).map_err(failed)?, key))
}

fn key_in(path: &Path, bytes: &[u8]) -> Result<PrivateKeyDer<'static>, IdentityError> {
    PrivateKeyDer::from_pem_slice(bytes)
        .map_err(|error| content(path, &format!("no private key in the form PEM: {error}")))
}

/// Returns the path of a temporary file in the same folder. The file is renamed to `path` when it is
/// complete.
fn part_of(path: &Path) -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    path.with_extension(format!("{}-{number}.part", std::process::id()))
}

/// Writes a file that only its owner can read. Other processes never see an incomplete file. An existing file
/// is not changed, unless `replaces` is true.
fn write_secret(path: &Path, bytes: &[u8], replaces: bool) -> Result<(), IdentityError> {
    let part = part_of(path);
    fs::remove_file(&part)
        .or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
        .map_err(|source| file(&part, source))?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(&part).and_then(|mut open| io::Write::write_all(&mut open, bytes));
    written.map_err(|source| file(&part, source))?;
    if !replaces {
        match fs::hard_link(&part, path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {} // a file system without links
            _ => return fs::remove_file(&part).map_err(|source| file(&part, source)),
        }
    }
    fs::rename(&part, path).map_err(|source| file(path, source))
}

/// Writes the certificate of an identity without the key, for users who may not read the key. Other processes
/// never see an incomplete file.
fn publish(path: &Path, both: &[u8]) -> Result<(), IdentityError> {
    let text = String::from_utf8_lossy(both).replace("\r\n", "\n");
    let parts = text.split(CERTIFICATE_LABEL).skip(1).filter_map(|part| part.split_once(CERTIFICATE_END));
    let certificate: String =
        parts.map(|(content, _)| format!("{CERTIFICATE_LABEL}{content}{CERTIFICATE_END}\n")).collect();
    if fs::read_to_string(path).is_ok_and(|there| there == certificate) {
        return Ok(());
    }
    let part = part_of(path);
    fs::write(&part, certificate).map_err(|source| file(&part, source))?;
    fs::rename(&part, path).map_err(|source| file(path, source))
}

//! Which servers a client trusts.
//!
//! *Invariant:* a certificate is never trusted after it has expired or before it is valid.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use rustls_platform_verifier::Verifier;

use crate::hash::CertificateHash;
use crate::native::certificate::{IdentityError, certificate_of, check_time, read_chain};

/// Decides which servers a client trusts.
#[derive(Clone, Debug)]
pub struct Trust {
    pub(crate) verifier: Arc<dyn ServerCertVerifier>,
    /// The name that the certificate must contain. `None` if any name is accepted.
    pub(crate) name: Option<ServerName<'static>>,
}

/// The error if a [`Trust`] cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// The file of a certificate could not be read.
    #[error(transparent)]
    File(#[from] IdentityError),
    /// The folder does not exist or contains no certificate, because no server has written one for
    /// development yet.
    #[error("{} is not there: start the server first, which makes it", path.display())]
    NoServer {
        /// The file.
        path: PathBuf,
    },
    /// The text cannot be the name of a server.
    #[error("{name:?} is no name of a server: take the one in its certificate, without a scheme and a port")]
    Name {
        /// The text that was passed as the name.
        name: String,
    },
    /// The certificates of the operating system could not be loaded.
    #[error("the trusted certificates of this system could not be loaded: {0}")]
    Platform(String),
}

impl Trust {
    /// Trusts certificates for `name` that are issued by authorities which the operating system trusts.
    /// `name` is a name of the server, for example `"play.example.com"`, or its IP address.
    ///
    /// # Errors
    /// Returns an error if `name` cannot be the name of a server, or if the certificates of the system cannot
    /// be loaded.
    pub fn platform(name: &str) -> Result<Self, TrustError> {
        let server = ServerName::try_from(name.to_owned());
        let server = server.map_err(|_| TrustError::Name { name: name.to_owned() })?;
        let verifier = Verifier::new(provider()).map_err(|error| TrustError::Platform(error.to_string()))?;
        Ok(Self { verifier: Arc::new(verifier), name: Some(server) })
    }

    /// Trusts only certificates with one of these hashes, while they are valid. Their names and signatures
    /// are not checked. Before you replace a certificate, pass both the old and the new hash. Clients must
    /// receive the hashes in a secure way, for example together with the program, or from a matchmaker over
    /// HTTPS.
    pub fn pinned(hashes: impl IntoIterator<Item = CertificateHash>) -> Self {
        let pinned = Pinned { hashes: hashes.into_iter().collect(), provider: provider() };
        Self { verifier: Arc::new(pinned), name: None }
    }

    /// Trusts the certificate that [`Identity::development`](crate::Identity::development) has written to a
    /// folder. Use this if the server runs on the same machine.
    ///
    /// # Errors
    /// Returns an error with the path of the certificate's file if the file does not exist. In this case,
    /// start the server first.
    pub fn development(folder: impl AsRef<Path>) -> Result<Self, TrustError> {
        let path = certificate_of(folder.as_ref());
        let chain = read_chain(&path).map_err(|error| match error {
            IdentityError::File { source, .. } if source.kind() == ErrorKind::NotFound => {
                TrustError::NoServer { path }
            }
            other => other.into(),
        })?;
        Ok(Self::pinned(chain.first().map(|own| CertificateHash::of(own))))
    }

    /// Returns the TLS settings of a client that trusts these servers.
    pub(crate) fn tls(&self) -> Result<rustls::ClientConfig, Error> {
        let mut tls = rustls::ClientConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&self.verifier))
            .with_no_client_auth();
        tls.alpn_protocols = vec![crate::native::settings::PROTOCOL.to_vec()];
        tls.enable_early_data = false;
        Ok(tls)
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A verifier that trusts only certificates with these hashes.
#[derive(Debug)]
struct Pinned {
    hashes: Vec<CertificateHash>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        own: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if !self.hashes.contains(&CertificateHash::of(own)) {
            return Err(CertificateError::ApplicationVerificationFailure.into());
        }
        check_time(own, now)?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(Error::General("TLS 1.2 is not used".to_owned()))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        own: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, own, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

//! Types that cannot be messages.
//!
//! *Invariant:* each of these types is refused when it is registered, before anything is sent.

use repl::Channel;
use repl::prelude::*;

/// An object with a property that not all clients may see.
#[derive(Clone, Debug, Default, Replicated)]
struct Vault {
    #[replicated]
    open: bool,
    #[replicated(condition = OwnerOnly)]
    code: u32,
}

#[test]
fn an_object_with_conditions_cannot_be_a_message() {
    fn refusal<M: NetSerialize + Send + Sync>() -> String {
        let register = || _ = Server::new(ServerConfig::default()).register_message::<M>(Channel::Ordered);
        let panic = std::panic::catch_unwind(register).expect_err("the owner's field would go to everyone");
        *panic.downcast::<String>().expect("a text")
    }
    let text = "cannot be a message, because its field `code` has a condition";
    assert!(refusal::<Vault>().starts_with(&format!("`Vault` {text}")));
    let inside = [
        refusal::<Vec<Vault>>(),
        refusal::<(u8, Option<Vault>)>(),
        refusal::<Box<[Vault; 2]>>(),
        refusal::<Option<Box<Vault>>>(),
    ];
    for refusal in inside {
        assert!(refusal.contains(text), "{refusal}");
    }
    let mut client = Client::new(ClientConfig::default(), Session::for_tests(1));
    client.register_message::<Vec<Option<u32>>>(Channel::Ordered);
}

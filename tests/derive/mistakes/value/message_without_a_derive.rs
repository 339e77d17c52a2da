use repl::prelude::*;

struct Chat(String);

fn main() {
    Server::new(ServerConfig::default()).register_message::<Chat>(Channel::Ordered);
}

use repl::prelude::*;

fn read(client: &mut Client) {
    while let Some(message) = client.poll_message() {
        println!("a message");
    }
}

fn main() {}

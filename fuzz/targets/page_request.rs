#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    repl_fuzz::page_request::run(data);
});

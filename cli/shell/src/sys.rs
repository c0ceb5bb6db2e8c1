//! What has no safe wrapper: the program's entry, and descriptors by number.
#![allow(unsafe_code)] // A symbol by its C name, pointers from the kernel, and numbers that others opened.

use std::os::fd::{BorrowedFd, RawFd};

/// The entry, in place of Rust's own.
#[cfg(not(test))]
// SAFETY: the C runtime calls `main` once, with these types, and nothing else here has that name.
#[unsafe(no_mangle)]
extern "C" fn main(count: std::ffi::c_int, arguments: *const *const std::ffi::c_char) -> i32 {
    use std::ffi::{CStr, OsStr};
    use std::os::unix::ffi::OsStrExt;

    let count = usize::try_from(count).unwrap_or(0);
    let argument = |index: usize| {
        // SAFETY: the kernel gives `count` strings that end with NUL and stay for the process's life.
        let text = unsafe { CStr::from_ptr(*arguments.add(index)) };
        OsStr::from_bytes(text.to_bytes()).to_owned()
    };
    let args: Vec<_> = (0..count).map(argument).collect();
    crate::run(&args)
}

/// A descriptor that this process was started with, by its number.
pub(crate) fn inherited_fd(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: nothing here closes a descriptor that it has not opened itself. One that is not open
    // gives EBADF. -1 is not a number of the callers'.
    unsafe { BorrowedFd::borrow_raw(number) }
}

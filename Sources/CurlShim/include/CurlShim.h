// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/select.h>

#if LIBCURL_VERSION_NUM < 0x074C01
#error "Refrain needs libcurl 7.76.1 or newer; these headers are older (see Documentation/Support.md)"
#endif

// The headers have it from 7.80 on. The version that is loaded determines what libcurl can do.
#if LIBCURL_VERSION_NUM < 0x075000
typedef int (*curl_prereq_callback)(void *user, char *remote_address, char *local_address, int remote_port,
                                    int local_port);
#define CURL_PREREQFUNC_OK 0
#define CURL_PREREQFUNC_ABORT 1
#endif

// Swift cannot call variadic functions, so there is one function per type of argument.

CURLcode refrain_set_long(CURL *easy, CURLoption option, long value);
CURLcode refrain_set_offset(CURL *easy, CURLoption option, int64_t value);
CURLcode refrain_set_pointer(CURL *easy, CURLoption option, const void *value);

/// Restricts a handle to HTTP over TCP and TLS.
CURLcode refrain_limit_protocols(CURL *easy);

/// Lets a thread that resolves a name continue when its transfer ends, instead of waiting for it.
///
/// Fails with CURLE_UNKNOWN_OPTION if the library that is loaded is older than 7.87.
CURLcode refrain_leave_lookups(CURL *easy);

/// CURL_NETRC_IGNORED with the same type in Swift for all headers: some declare an enumerator, later ones a macro.
static const long refrain_netrc_ignored = CURL_NETRC_IGNORED;

/// Sets the callbacks of a transfer; each receives `user`. Libraries before 7.80 have no `prerequest`, and ignore it.
CURLcode refrain_set_callbacks(CURL *easy, curl_write_callback header, curl_write_callback write,
                               curl_read_callback read, curl_prereq_callback prerequest,
                               curl_opensocket_callback open_socket, void *user);

/// Sets the progress callback, which is called while CURLOPT_NOPROGRESS is off.
CURLcode refrain_set_progress(CURL *easy, curl_xferinfo_callback progress, void *user);

/// Sets the callback that closes sockets; connections keep it, and `user`, for longer than the handle lives.
CURLcode refrain_set_close(CURL *easy, curl_closesocket_callback close_socket, void *user);

/// Makes a handle's TLS connections return from a read after each record without data (TLS 1.3: KeyUpdate, session
/// tickets), of which a peer can send any number; only for OpenSSL, where reads otherwise go on.
///
/// The first 64 KB of a connection are exempt: a response may come directly behind the tickets, and libcurl sends more
/// of the request before it reads again, which fails if the peer has closed the connection.
void refrain_bound_tls_reads(CURL *easy);

/// Watches one loop, so that no peer keeps it inside libcurl.
///
/// A null pointer, for want of memory, stands for no watch.
typedef struct refrain_watch refrain_watch;
refrain_watch *refrain_watch_make(void);
void refrain_watch_free(refrain_watch *watch);

/// The sockets of the loop's connections: each is added when it is opened, and removed before it is closed.
void refrain_watch_add(refrain_watch *watch, curl_socket_t socket);
void refrain_watch_remove(refrain_watch *watch, curl_socket_t socket);

/// Called before and after libcurl may read.
void refrain_watch_enter(refrain_watch *watch);
void refrain_watch_exit(refrain_watch *watch);

/// Called in between, when libcurl has delivered data to a transfer.
void refrain_watch_deliver(refrain_watch *watch);

/// Waits for the sockets of many transfers, and calls libcurl only for those on which something has happened.
typedef struct refrain_poller refrain_poller;

/// Returns NULL if the system has no resources, or no such interface.
refrain_poller *refrain_poller_make(CURLM *multi);
void refrain_poller_free(refrain_poller *poller);

/// Waits for at most so many milliseconds.
void refrain_poller_wait(refrain_poller *poller, int milliseconds);

/// Ends the wait, or the next one; may be called from any thread.
void refrain_poller_wake(refrain_poller *poller);

/// Performs the transfers for which the wait has found something, or all of them.
///
/// All must be performed after curl_multi_perform was called.
void refrain_poller_perform(refrain_poller *poller, bool all, int *running);

/// Closes a socket.
int refrain_close_socket(curl_socket_t socket);

/// How the lookup of a name ends.
typedef enum {
    /// The name has an address.
    REFRAIN_NAME_FOUND,
    /// The name servers say that there is no such name, or that it has no address.
    REFRAIN_NAME_UNKNOWN,
    /// There is no answer: no name server can be reached, or it has failed.
    REFRAIN_NAME_UNRESOLVED
} refrain_name_result;

/// Looks a name up, and blocks until that ends.
refrain_name_result refrain_look_up(const char *name);

/// Sets the callback before a name is resolved.
CURLcode refrain_set_lookup(CURL *easy, curl_resolver_start_callback begin, void *user);

/// Returns 1 if the peer ended TLS with close_notify, 0 if not, -1 if unknown.
///
/// Call it during a transfer only.
int refrain_tls_was_ended(CURL *easy);

/// Returns 1 if the TLS layer of a transfer's connection has data that libcurl has not read, 0 if it has none or there
/// is no such layer, -1 if the TLS library does not tell.
///
/// Call it during a transfer only. Of TLS within TLS only the inner layer is checked.
int refrain_tls_holds_data(CURL *easy);

/// Returns the number of the transfer's connection; -1 before libcurl 8.2, or without a connection.
int64_t refrain_connection_number(CURL *easy);

/// Sets the callback for libcurl's messages, which is called while CURLOPT_VERBOSE is on.
CURLcode refrain_set_debug(CURL *easy, curl_debug_callback debug, void *user);

/// The getters return 0 if libcurl does not have the value.
long refrain_get_long(CURL *easy, CURLINFO info);
int64_t refrain_get_offset(CURL *easy, CURLINFO info);
void *refrain_get_pointer(CURL *easy, CURLINFO info);

CURLMcode refrain_multi_set_long(CURLM *multi, CURLMoption option, long value);

/// Initializes libcurl for the process; may be called repeatedly and from any thread.
///
/// Fails with CURLE_FAILED_INIT if the library that is loaded is older than ``refrain_oldest_version``.
CURLcode refrain_global_init(void);

/// Prevents child processes from inheriting the sockets that wake a handle's poll, if the system identifies them.
///
/// Call it after curl_multi_init, before the first poll; it leaves wake-ups pending.
void refrain_hide_wakeup_from_children(CURLM *multi);

/// The features of libcurl, a set of CURL_VERSION_… bits.
int refrain_features(void);

/// The oldest supported version, of the headers as well as of the library.
static const unsigned refrain_oldest_version = 0x074C01;

/// The version of the library that is loaded: 0x080700 is 8.7.0.
unsigned refrain_version(void);

/// Sets the loop of the calling thread; null: none.
void refrain_set_current_loop(void *loop);

/// Returns the loop of the calling thread; null: none.
void *refrain_current_loop(void);

/// Registers the calling thread as a user of libcurl; returns false if the process is exiting.
///
/// The exit waits for registered threads, for at most a second.
bool refrain_begin_use(void);

/// The same, but never returns if the process is exiting.
void refrain_begin_use_or_wait(void);

/// Ends a use that refrain_begin_use has begun.
void refrain_end_use(void);

/// Ends the last use of the thread, which must not be detached and ends next; the exit of the process waits for that.
void refrain_end_thread(void);

/// Makes the exit of the process wait for threads that use libcurl; call it once, when libcurl is initialized.
void refrain_wait_at_exit(void);

/// The number of files that the process may have open at a time.
uint64_t refrain_open_files(void);

/// Names a thread for debuggers and `ps`, if the system allows that for other threads.
void refrain_name_thread(pthread_t thread, const char *name);

/// The state of SIGPIPE while it is blocked on the calling thread.
typedef struct {
    sigset_t before;
    bool was_held;
    bool had_come;
} refrain_held_signal;

/// Blocks SIGPIPE on the calling thread.
void refrain_hold_pipe_signal(refrain_held_signal *held);

/// Restores the previous state, and discards a SIGPIPE raised in between.
void refrain_release_pipe_signal(const refrain_held_signal *held);

/// Stores the process's action for SIGPIPE until it is restored; several threads may do so at the same time.
void refrain_hold_pipe_action(void);

/// Restores the stored action for SIGPIPE.
void refrain_restore_pipe_action(void);

/// The sockets that transfers wait for.
typedef struct {
    fd_set to_read, to_write;
    int highest;
} refrain_sockets;

/// Lists the sockets that the transfers of a handle wait for; returns false if there are none.
bool refrain_list_sockets(CURLM *multi, refrain_sockets *sockets);

/// Waits for an event on a socket, without the handle; returns false after the timeout.
bool refrain_wait_for_sockets(refrain_sockets *sockets, int64_t nanoseconds);

/// Returns a socket that child processes do not inherit, or CURL_SOCKET_BAD.
curl_socket_t refrain_open_socket(const struct curl_sockaddr *address);

/// The address itself, a `sockaddr` of its family.
const void *refrain_address_bytes(const struct curl_sockaddr *address);

/// Returns the local port of a socket; 0 if it has none.
int refrain_local_port(curl_socket_t socket);

/// Returns for how many milliseconds the peer has acknowledged nothing, if data was sent more than once, or waits for a
/// second to be acknowledged or sent; otherwise, or if the system does not report it, 0.
///
/// `age` is the time since something was sent, in milliseconds.
long refrain_silence(curl_socket_t socket, long age);

/// Shuts a connection down in both directions, so that nothing can be sent on it.
void refrain_end_connection(curl_socket_t socket);

/// Returns 1 if data, the end or an error can be read from a socket; 0 otherwise, or if it is not a socket.
int refrain_has_arrived(curl_socket_t socket);

/// Returns 1 if a connection is open and has no unread data; 0 otherwise, or if it is not a socket.
int refrain_is_quiet(curl_socket_t socket);

/// Returns 1 if the peer has closed the connection and all data was read; 0 otherwise.
int refrain_has_ended(curl_socket_t socket);

/// Compresses bytes in zlib's format, which HTTP calls deflate: returns 0, or -1 if the output is too small.
///
/// On input `output_count` is the size of the buffer, on return the number of bytes produced.
int refrain_deflate(const uint8_t *input, size_t input_count, uint8_t *output, size_t *output_count);

/// Returns the maximum compressed size of a number of bytes.
size_t refrain_deflate_bound(size_t input_count);

/// A decoder of gzip or deflate.
typedef struct refrain_inflater refrain_inflater;

/// Returns a decoder, or NULL without memory.
refrain_inflater *refrain_inflater_make(int is_gzip);
void refrain_inflater_free(refrain_inflater *inflater);

/// Restarts the decoder for the next member of a gzip body; returns 0, or -1 on failure.
int refrain_inflater_restart(refrain_inflater *inflater);

/// Decodes some of the input: returns 0 if more input is needed, 1 at the end of the content, -1 if it is malformed.
///
/// On input the counts are the sizes of the buffers, on return the numbers of bytes consumed and produced.
int refrain_inflater_run(refrain_inflater *inflater, const uint8_t *input, size_t *input_count, uint8_t *output,
                         size_t *output_count);

/// A description of the malformed input.
const char *refrain_inflater_message(const refrain_inflater *inflater);

// SPDX-License-Identifier: Apache-2.0
// The helpers of all tests with sockets, for every file of this target.
@_exported import TestSupport

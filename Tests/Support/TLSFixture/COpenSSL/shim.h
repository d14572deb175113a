// SPDX-License-Identifier: Apache-2.0
#include <openssl/ssl.h>
